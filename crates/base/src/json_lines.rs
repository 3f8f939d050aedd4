//! Reads JSON lines with a version strictly: every bad line is returned with its number.

use crate::text::limited;
use serde::de::DeserializeOwned;
use std::fmt;
use testgen_types::parse_versioned;

/// One line that is not an entry of this version.
#[derive(Debug)]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// The problem, for the user.
    pub message: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The content of a report whose entries are all of one kind.
#[derive(Debug)]
pub struct JsonLines<E> {
    /// The entries in the order in which they were written.
    pub entries: Vec<E>,
    /// One message for each line that is not an entry of this version.
    pub problems: Vec<String>,
}

/// A report without a line.
impl<E> Default for JsonLines<E> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            problems: Vec::new(),
        }
    }
}

impl<E: DeserializeOwned> JsonLines<E> {
    /// Reads the text of a report. Empty lines are ignored.
    pub fn parse(text: &str, version: u32) -> Self {
        let (entries, bad) = parse_json_lines(text, version);
        let problems = bad.into_iter().map(|bad| bad.to_string()).collect();
        Self { entries, problems }
    }
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
