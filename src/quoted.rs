//! Foreign text in messages: control characters escaped, and no longer than a line.

use std::fmt;

/// Prints a value of the user's in backticks.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Quoted<'_> {
    const LONGEST: usize = 120;

    /// The escaped text without backticks.
    pub(crate) fn bare(&self) -> String {
        let mut text: String = self.0.chars().take(Self::LONGEST).map(Escaped::new).map(|c| c.to_string()).collect();
        if self.0.chars().nth(Self::LONGEST).is_some() {
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

enum Escaped {
    Plain(char),
    Escape(std::char::EscapeDebug),
}

impl Escaped {
    /// Quotes stay as they are; everything that a terminal could act on is escaped.
    fn new(c: char) -> Self {
        if matches!(c, '"' | '\'' | '\\') { Self::Plain(c) } else { Self::Escape(c.escape_debug()) }
    }
}

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(c) => write!(f, "{c}"),
            Self::Escape(escape) => write!(f, "{escape}"),
        }
    }
}
