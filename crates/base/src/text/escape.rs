//! User-supplied text in messages: control characters escaped, and limited to one line.

use std::fmt;

/// Displays a value in backticks.
pub struct Quoted<'a>(pub &'a str);

impl Quoted<'_> {
    const MAX_CHARS: usize = 120;

    /// The escaped text without backticks.
    pub fn bare(&self) -> String {
        let mut text: String = self.0.chars().take(Self::MAX_CHARS).map(escape).collect();
        if self.0.chars().nth(Self::MAX_CHARS).is_some() {
            text.push_str("...");
        }
        text
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.bare())
    }
}

/// The message of a library, which may repeat large parts of an input: without control characters,
/// and with a limited number of lines of limited length.
pub fn limited(message: &str) -> String {
    const LINES: usize = 40;
    let text = message
        .lines()
        .take(LINES)
        .map(limited_line)
        .collect::<Vec<_>>()
        .join("\n");
    if message.ends_with('\n') {
        text + "\n"
    } else {
        text
    }
}

fn limited_line(line: &str) -> String {
    const CHARS: usize = 300;
    // Alignment under a line of the input survives for ASCII.
    let text: String = line
        .chars()
        .take(CHARS + 1)
        .map(|c| if c == '\t' { " ".to_owned() } else { escape(c) })
        .collect();
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A text of any length on one line, without control characters.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| {
            if matches!(c, '\n' | '\t') {
                " ".to_owned()
            } else {
                escape(c)
            }
        })
        .collect()
}

/// Escapes whatever a terminal could interpret; quotes and backslashes stay readable.
fn escape(c: char) -> String {
    if matches!(c, '"' | '\'' | '\\') {
        c.to_string()
    } else {
        c.escape_debug().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_libraries_are_limited() {
        assert_eq!(limited("a\u{1b}[31m\n  \"b\té"), "a\\u{1b}[31m\n  \"b é");
        assert_eq!(limited(&"x".repeat(301)), format!("{}...", "x".repeat(300)));
        assert_eq!(limited(&"x\n".repeat(100)).lines().count(), 40);
    }

    #[test]
    fn control_characters_are_escaped_and_long_text_is_cut() {
        assert_eq!(
            Quoted("a\u{1b}[31m\n\"b\\").to_string(),
            "`a\\u{1b}[31m\\n\"b\\`"
        );
        assert_eq!(
            Quoted(&"x".repeat(121)).bare(),
            format!("{}...", "x".repeat(120))
        );
    }
}
