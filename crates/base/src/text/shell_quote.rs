//! Words of a shell command, as messages and generated headers contain them.

/// Quotes `text` for a POSIX shell where necessary. Control characters are escaped so that a
/// command stays on one line.
pub fn shell_quote(text: &str) -> String {
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let visible: String = text
        .chars()
        .flat_map(|c| {
            // Messages show commands between backticks.
            if c.is_control() || c == '`' {
                c.escape_unicode().collect()
            } else {
                vec![c]
            }
        })
        .collect();
    format!("'{}'", visible.replace('\'', r"'\''"))
}

/// Whether the character has no meaning to a shell.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_stay_on_one_line() {
        assert_eq!(shell_quote("../model_specs"), "../model_specs");
        assert_eq!(shell_quote("a b'c"), r"'a b'\''c'");
        assert_eq!(shell_quote("a\nb`"), r"'a\u{a}b\u{60}'");
        assert_eq!(shell_quote(""), "''");
    }
}
