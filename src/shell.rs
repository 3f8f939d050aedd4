//! Words of a shell command, as messages and headers show them.

/// Quotes for a POSIX shell where they are needed, with control characters made visible, so that it stays on one line.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let visible: String = text
        .chars()
        .flat_map(|c| if c.is_control() || c == '`' { c.escape_unicode().collect() } else { vec![c] })
        .collect();
    format!("'{}'", visible.replace('\'', r"'\''"))
}

/// `testgen generate` with the flags of these places.
pub(crate) fn generate_command(specs: &str, out: &str, templates: Option<&str>, runtime: Option<&str>) -> String {
    let mut command = format!("testgen generate --specs {} --out {}", shell_word(specs), shell_word(out));
    for (flag, value) in [("--templates", templates), ("--runtime", runtime)] {
        if let Some(value) = value {
            command.push_str(&format!(" {flag} {}", shell_word(value)));
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_stay_on_one_line() {
        assert_eq!(shell_word("../model_specs"), "../model_specs");
        assert_eq!(shell_word("a b'c"), r"'a b'\''c'");
        assert_eq!(shell_word("a\nb`"), r"'a\u{a}b\u{60}'");
        assert_eq!(shell_word(""), "''");
    }
}
