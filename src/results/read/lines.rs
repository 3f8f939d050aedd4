//! Reads a report: every bad line is a problem.

use super::ReportProblem;
use flate2::read::MultiGzDecoder;
use std::{
    io::Read,
    path::{Path, PathBuf},
};
use testgen_base::{
    cli_error::CliError,
    exit_code::ExitCode,
    json_lines::{BadLine, parse_json_lines},
};
use testgen_types::{
    ReportEntry,
    bounded_file::{FileError, FileProblem, limit, read_bytes},
};

/// A report that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file is missing or unreadable.
    #[error("cannot read the report `{}`: {problem}", path.display())]
    Read {
        /// The report.
        path: PathBuf,
        /// Why.
        problem: FileProblem,
    },
    /// The content of a packed report cannot be read.
    #[error("cannot unpack the report `{}`: {problem}", path.display())]
    Unpack {
        /// The report.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The directory contains no report.
    #[error("no report (`*.jsonl`, `*.jsonl.gz`) below `{}`", directory.display())]
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

impl CliError for ReportError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Read {
                problem: FileProblem::System(_),
                ..
            }
            | Self::Write { .. } => ExitCode::Internal,
            Self::NoReports { .. } | Self::Read { .. } | Self::Unpack { .. } => ExitCode::BadInput,
        }
    }

    fn help(&self) -> Option<String> {
        let text = "`testgen run --report FILE.jsonl` writes one; so does a suite with `TESTGEN_REPORT=FILE.jsonl`";
        matches!(self, Self::NoReports { .. } | Self::Read { .. }).then(|| text.to_owned())
    }
}

impl From<FileError> for ReportError {
    fn from(error: FileError) -> Self {
        Self::Read {
            path: error.path,
            problem: error.problem,
        }
    }
}

/// The content of a report: its entries, and one problem for each bad line.
#[derive(Debug, Default)]
pub struct Lines {
    /// The entries in the order in which the checks ended.
    pub entries: Vec<ReportEntry>,
    /// One problem for each line that is not an entry of this version.
    pub problems: Vec<ReportProblem>,
}

/// Reads the report `path`, packed by gzip if its name ends with `.gz`. A bad line becomes a
/// [`ReportProblem`] and is never skipped silently.
///
/// # Errors
///
/// When the file cannot be read or unpacked.
pub fn read_lines(path: &Path) -> Result<Lines, ReportError> {
    Ok(parse_lines(&read_report(path)?))
}

/// The text of a report of any kind, unpacked.
///
/// # Errors
///
/// As [`read_lines`].
pub(crate) fn read_report(path: &Path) -> Result<String, ReportError> {
    let mut bytes = read_bytes(path, limit::REPORT)?;
    if path.extension().is_some_and(|kind| kind == "gz") {
        bytes = unpacked(&bytes, limit::REPORT).map_err(|problem| ReportError::Unpack {
            path: path.to_owned(),
            problem,
        })?;
    }
    // Bytes that are not UTF-8 make a line bad, not the whole report unreadable.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The content of a gzip file.
fn unpacked(packed: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    // A small file can expand to any size, so the limit of a report holds for its content, too.
    // `Multi`, because packed files that are joined are one gzip file, and `GzDecoder` would end
    // after the first.
    MultiGzDecoder::new(packed)
        // One byte more than allowed shows that the content is too large, without unpacking it.
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit {
        return Err(format!("its content has more than {limit} bytes"));
    }
    Ok(bytes)
}

/// Reads the text of a report. Empty lines are ignored.
pub fn parse_lines(text: &str) -> Lines {
    let (entries, bad) = parse_json_lines(text, ReportEntry::VERSION);
    Lines {
        entries,
        problems: bad
            .into_iter()
            .map(|BadLine { line, message }| ReportProblem::BadLine { line, message })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"version":1,"model":"bert","architecture":"encoder_only","device":"cpu","check":"finite","precision":"f32","status":"pass","device_name":"host","milliseconds":1.5}"#;

    #[test]
    fn good_lines_and_unknown_fields_are_read() {
        let later = GOOD.replace("\"model\"", "\"a_new_field\":7,\"model\"");
        let lines = parse_lines(&format!("{GOOD}\n\n{later}\n"));
        assert_eq!(lines.entries.len(), 2);
        assert!(lines.problems.is_empty());
        assert_eq!(
            lines.entries[0].test_name(),
            "encoder_only::bert::cpu::finite_f32"
        );
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::best())
            .read_to_end(&mut bytes)
            .expect("memory can be read");
        bytes
    }

    #[test]
    fn a_packed_report_is_read_up_to_the_limit_of_its_content() {
        let text = "0".repeat(1000);
        let bytes = packed(&text);
        assert!(bytes.len() < 100);
        assert_eq!(unpacked(&bytes, 1000), Ok(text.into_bytes()));
        assert_eq!(
            unpacked(&bytes, 999),
            Err("its content has more than 999 bytes".to_owned())
        );
    }

    #[test]
    fn a_damaged_packed_report_is_an_error() {
        let mut bytes = packed(GOOD);
        bytes.truncate(bytes.len() - 1);
        assert!(unpacked(&bytes, 1000).is_err());
        assert!(unpacked(b"no gzip", 1000).is_err());
    }

    #[test]
    fn every_bad_line_is_a_problem_with_its_number() {
        let newer = GOOD.replace("\"version\":1", "\"version\":2");
        let unknown = GOOD.replace("\"finite\"", "\"finit\"");
        let cut = &GOOD[..60];
        let lines = parse_lines(&format!("{GOOD}\n{newer}\n{unknown}\n{cut}"));
        let messages: Vec<String> = lines.problems.iter().map(ToString::to_string).collect();
        assert_eq!(lines.entries.len(), 1);
        assert_eq!(messages.len(), 3);
        assert!(
            messages[0].contains("line 2") && messages[0].contains("version 2"),
            "{}",
            messages[0]
        );
        assert!(
            messages[1].contains("line 3") && messages[1].contains("finit"),
            "{}",
            messages[1]
        );
        assert!(messages[2].contains("line 4"), "{}", messages[2]);
    }
}
