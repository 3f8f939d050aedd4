//! The properties of every message about an input.

/// The longest message about one input, in bytes.
const LONGEST_MESSAGE: usize = 60_000;
/// The longest line of a message, in characters.
// It has 200 characters of the input, each written as `\u{10ffff}` at most, and a text.
const LONGEST_LINE: usize = 2500;

/// Asserts that a message is not empty, of limited length, and without control characters. Returns
/// it without the values, which describe no behaviour.
///
/// # Panics
///
/// When one of these does not hold.
pub fn assert_message(message: &str) -> String {
    assert!(!message.trim().is_empty(), "an error without a message");
    assert!(
        message.len() < LONGEST_MESSAGE,
        "a message of {} bytes",
        message.len()
    );
    let longest = message
        .lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    assert!(
        longest < LONGEST_LINE,
        "a line of {longest} characters: {}",
        &message.chars().take(300).collect::<String>()
    );
    let control = message.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(
        control, None,
        "a control character in a message: {message:?}"
    );
    // Lines with `|` repeat the input.
    let own: String = message
        .lines()
        .filter(|line| !line.contains('|'))
        .take(3)
        .collect();
    own.split(['`', '"'])
        .step_by(2)
        .flat_map(str::chars)
        .filter(|c| c.is_ascii_alphabetic() || *c == ' ')
        .take(120)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::assert_message;
    use std::panic::catch_unwind;

    #[test]
    fn values_are_not_part_of_the_behaviour() {
        assert_eq!(
            assert_message("tensor `a` has 12 bytes"),
            assert_message("tensor `b` has 8 bytes")
        );
        assert_eq!(assert_message("first\n1 | input\n"), "first");
    }

    #[test]
    fn a_message_that_repeats_an_input_is_a_finding() {
        for bad in [
            "",
            " \n",
            "a\u{1b}[31m",
            "a\rb",
            &"x".repeat(2500),
            &"x\n".repeat(30_000),
        ] {
            assert!(
                catch_unwind(|| assert_message(bad)).is_err(),
                "{:?}",
                bad.chars().take(20).collect::<String>()
            );
        }
    }
}
