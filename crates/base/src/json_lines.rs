//! Reads JSON lines with a version strictly: every bad line is returned with its number.

use crate::text::limited;
use serde::de::DeserializeOwned;
use testgen_types::parse_versioned;

/// One line that is not an entry of this version.
#[derive(Debug)]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// The problem, for the user.
    pub message: String,
}

/// The entries of a text, and its bad lines. Empty lines are ignored.
pub fn parse_json_lines<E: DeserializeOwned>(text: &str, version: u32) -> (Vec<E>, Vec<BadLine>) {
    let (mut entries, mut bad) = (Vec::new(), Vec::new());
    for (index, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match parse_versioned(line, version) {
            Ok(entry) => entries.push(entry),
            Err(message) => bad.push(BadLine {
                line: index + 1,
                message: limited(&message),
            }),
        }
    }
    (entries, bad)
}
