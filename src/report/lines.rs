//! Reading the JSON lines of a report, strictly.

use super::Problem;
use crate::{ExitCode, Failure};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use testgen_contract::Record;

/// A report that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file is missing or unreadable.
    #[error("cannot read the report `{}`: {source}", path.display())]
    Read {
        /// The report.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory without any report.
    #[error("no report (`*.jsonl`) below `{}`", directory.display())]
    NoReports {
        /// The directory.
        directory: PathBuf,
    },
    /// The result cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Failure for ReportError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => ExitCode::BadInput,
            Self::NoReports { .. } => ExitCode::BadInput,
            Self::Read { .. } | Self::Write { .. } => ExitCode::Internal,
        }
    }

    fn help(&self) -> Option<String> {
        let text = "`testgen run --report FILE.jsonl` writes one; so does a suite with `TESTGEN_REPORT=FILE.jsonl`";
        matches!(self, Self::NoReports { .. } | Self::Read { .. }).then(|| text.to_owned())
    }
}

/// What a report holds: its records, and the lines that are none.
#[derive(Debug, Default)]
pub struct Lines {
    /// The records in the order in which the checks ended.
    pub records: Vec<Record>,
    /// One problem for each line that is not a record of this version.
    pub problems: Vec<Problem>,
}

/// Reads the report `path`. A bad line is a [`Problem`], never skipped in silence.
///
/// # Errors
///
/// When the file cannot be read.
pub fn read_lines(path: &Path) -> Result<Lines, ReportError> {
    let bytes = std::fs::read(path).map_err(|source| ReportError::Read { path: path.to_path_buf(), source })?;
    Ok(parse_lines(&String::from_utf8_lossy(&bytes)))
}

/// Reads the text of a report; empty lines are no records and no problem.
pub fn parse_lines(text: &str) -> Lines {
    let mut lines = Lines::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match parse_line(line) {
            Ok(record) => lines.records.push(record),
            Err(message) => lines.problems.push(Problem::BadLine { line: index + 1, message }),
        }
    }
    lines
}

/// The version alone, so that a newer line is told as such and not as a missing field.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn parse_line(line: &str) -> Result<Record, String> {
    let Version { version } = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if version != Record::VERSION {
        return Err(format!("version {version}, but this testgen reads version {}", Record::VERSION));
    }
    serde_json::from_str(line).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"version":1,"model":"bert","architecture":"encoder_only","device":"cpu","check":"finite","precision":"f32","status":"pass","device_name":"host","milliseconds":1.5}"#;

    #[test]
    fn good_lines_and_fields_of_the_future_are_read() {
        let later = GOOD.replace("\"model\"", "\"a_new_field\":7,\"model\"");
        let lines = parse_lines(&format!("{GOOD}\n\n{later}\n"));
        assert_eq!(lines.records.len(), 2);
        assert!(lines.problems.is_empty());
        assert_eq!(lines.records[0].test_name(), "encoder_only::bert::cpu::finite_f32");
    }

    #[test]
    fn every_bad_line_is_a_problem_with_its_number() {
        let newer = GOOD.replace("\"version\":1", "\"version\":2");
        let unknown = GOOD.replace("\"finite\"", "\"finit\"");
        let cut = &GOOD[..60];
        let lines = parse_lines(&format!("{GOOD}\n{newer}\n{unknown}\n{cut}"));
        let told: Vec<String> = lines.problems.iter().map(ToString::to_string).collect();
        assert_eq!(lines.records.len(), 1);
        assert_eq!(told.len(), 3);
        assert!(told[0].contains("line 2") && told[0].contains("version 2"), "{}", told[0]);
        assert!(told[1].contains("line 3") && told[1].contains("finit"), "{}", told[1]);
        assert!(told[2].contains("line 4"), "{}", told[2]);
    }
}
