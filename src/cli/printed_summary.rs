//! The result of a suite on stdout, for every command that runs one.

use super::{Out, text_format::TextFormat};
use serde::Serialize;
use std::path::Path;
use testgen_base::{cli_error::Error, exit_code::ExitCode};

/// A summary in both formats.
pub(super) struct PrintedSummary<'a, S> {
    /// For scripts.
    pub(super) summary: &'a S,
    /// For people.
    pub(super) text: String,
    /// Whether the exit code is 0.
    pub(super) green: bool,
    /// The file that has the report.
    pub(super) report: &'a Path,
}

impl<S: Serialize> PrintedSummary<'_, S> {
    /// Prints the summary; a green one is exit code 0.
    pub(super) fn print(&self, format: TextFormat, out: &mut Out) -> Result<ExitCode, Error> {
        match format {
            TextFormat::Human => {
                write!(out, "{}", self.text)?;
                writeln!(out, "report: {}", self.report.display())?;
            }
            TextFormat::Json => {
                let json = serde_json::to_string_pretty(self.summary)
                    .expect("a summary has string keys only");
                writeln!(out, "{json}")?;
            }
        }
        Ok(if self.green {
            ExitCode::Success
        } else {
            ExitCode::Findings
        })
    }
}
