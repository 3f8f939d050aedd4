//! The beginning and the end of a text for a message, so that no message repeats a large input or
//! controls a terminal.

use std::borrow::Cow;

/// The number of characters of an input that a message repeats.
const LENGTH: usize = 200;

/// The number of characters after the gap.
// The end of a parser's message has the line and the column.
const END: usize = 60;

const GAP: &str = "...";

/// `text`, or its beginning and its end with `...` between them: at most 200 characters. Line
/// breaks and tabs become spaces, other control characters U+FFFD.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    // Not `count`: the text may have megabytes.
    let short = if text.chars().nth(LENGTH).is_none() {
        Cow::Borrowed(text)
    } else {
        let end = text
            .char_indices()
            .nth_back(END - 1)
            .map_or(0, |(position, _)| position);
        let beginning: String = text.chars().take(LENGTH - END - GAP.len()).collect();
        Cow::Owned([&beginning, GAP, &text[end..]].concat())
    };
    if short.contains(char::is_control) {
        Cow::Owned(short.chars().map(visible).collect())
    } else {
        short
    }
}

fn visible(c: char) -> char {
    match c {
        // A message stays one line, and the words around the break stay apart.
        '\n' | '\r' | '\t' => ' ',
        // An escape sequence in a file could move the cursor of a terminal or recolour its text.
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        assert_eq!(
            excerpt("a\u{1b}[31m\u{9b}\r\n\tb"),
            "a\u{fffd}[31m\u{fffd}   b"
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(excerpt(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(
            excerpt(&"é".repeat(201)),
            format!("{}...{}", "é".repeat(137), "é".repeat(60))
        );
        let long = format!(
            "invalid value {}, at line 1 column 5",
            "x".repeat(1_000_000)
        );
        assert!(
            excerpt(&long).ends_with("xx, at line 1 column 5"),
            "{}",
            excerpt(&long)
        );
    }
}
