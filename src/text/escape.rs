//! User-supplied text in messages: control characters escaped, and limited to one line.

use std::fmt;

/// Displays a value in backticks.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Quoted<'_> {
    const MAX_CHARS: usize = 120;

    /// The escaped text without backticks.
    pub(crate) fn bare(&self) -> String {
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

/// Escapes whatever a terminal could interpret; quotes and backslashes stay readable.
fn escape(c: char) -> String {
    if matches!(c, '"' | '\'' | '\\') { c.to_string() } else { c.escape_debug().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_long_text_is_cut() {
        assert_eq!(Quoted("a\u{1b}[31m\n\"b\\").to_string(), "`a\\u{1b}[31m\\n\"b\\`");
        assert_eq!(Quoted(&"x".repeat(121)).bare(), format!("{}...", "x".repeat(120)));
    }
}
