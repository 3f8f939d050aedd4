//! Adds lines to a text.

use std::fmt::{Arguments, Write};

/// Adds `line` and a line break.
pub fn push_line(text: &mut String, line: Arguments<'_>) {
    writeln!(text, "{line}").expect("a String can always be written");
}
