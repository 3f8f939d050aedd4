//! The report: the file of JSON lines that `TESTGEN_REPORT` names. Several processes append to it
//! concurrently.

use serde::Serialize;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};
use testgen_types::ReportEntry;

/// The variable that names the file.
pub(crate) const REPORT_VARIABLE: &str = "TESTGEN_REPORT";

/// The variable that names the file to which the name of each check is appended when it starts, as
/// one JSON string on a line.
pub(crate) const STARTED_VARIABLE: &str = "TESTGEN_STARTED";

/// The report file, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Report {
    file: Option<(PathBuf, Mutex<File>)>,
}

/// The report cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`, which {REPORT_VARIABLE} or {STARTED_VARIABLE} names: {source}", path.display())]
pub(crate) struct ReportWriteError {
    path: PathBuf,
    source: io::Error,
}

impl Report {
    /// The file that a variable names; an empty report without the variable.
    pub(crate) fn from_environment(variable: &str) -> Result<Self, ReportWriteError> {
        match std::env::var_os(variable).filter(|path| !path.is_empty()) {
            Some(path) => Self::append_to(Path::new(&path)),
            None => Ok(Self::default()),
        }
    }

    /// Appends to `path`, which is created if it does not exist.
    pub(crate) fn append_to(path: &Path) -> Result<Self, ReportWriteError> {
        // Appended and not replaced: the processes of a suite share the file.
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|source| ReportWriteError {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            file: Some((path.to_owned(), Mutex::new(file))),
        })
    }

    /// Appends one entry.
    pub(crate) fn append(&self, entry: &ReportEntry) -> Result<(), ReportWriteError> {
        self.append_line(entry)
    }

    /// Appends one line of JSON with a single write.
    pub(crate) fn append_line(&self, entry: &impl Serialize) -> Result<(), ReportWriteError> {
        let Some((path, file)) = &self.file else {
            return Ok(());
        };
        // The line is complete before the lock is taken, so that a value that cannot be written
        // leaves no half line.
        let mut line = serde_json::to_vec(entry).map_err(|source| failed(source.into(), path))?;
        line.push(b'\n');
        // With a single write, so that lines of several processes do not mix.
        let mut file = file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(&line).map_err(|source| failed(source, path))
    }
}

fn failed(source: io::Error, path: &Path) -> ReportWriteError {
    ReportWriteError {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use testgen_types::{Architecture, Check, DeviceKind, EntryStatus, Precision};

    fn entry(model: &str) -> ReportEntry {
        ReportEntry {
            version: ReportEntry::VERSION,
            model: model.to_owned(),
            architecture: Architecture::EncoderOnly,
            device: DeviceKind::Cpu,
            device_index: None,
            engine: None,
            engine_versions: None,
            check: Check::Finite,
            precision: Precision::F32,
            status: EntryStatus::Pass,
            reason: Some("two\nlines".to_owned()),
            device_name: None,
            hardware: None,
            testgen: None,
            simulated: false,
            tf32: false,
            fallback: false,
            mock: false,
            panicked: false,
            kernels: None,
            matrix_unit: None,
            outputs: Vec::new(),
            layers: Vec::new(),
            providers: Vec::new(),
            memory: None,
            expected_milliseconds: None,
            milliseconds: 1.0,
        }
    }

    #[test]
    fn concurrent_writers_write_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let report = Report::append_to(&path).unwrap();
                scope.spawn(move || {
                    (0..50).for_each(|_| report.append(&entry(&format!("model{writer}"))).unwrap())
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let entries: Vec<ReportEntry> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(entries.len(), 200);
        assert_eq!(
            entries
                .iter()
                .filter(|entry| entry.model == "model3")
                .count(),
            50
        );
    }

    #[test]
    fn a_report_that_cannot_be_written_is_an_error() {
        let error = Report::append_to(Path::new("/nonexistent/report.jsonl"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/nonexistent/report.jsonl") && error.contains("TESTGEN_REPORT"),
            "{error}"
        );
    }
}
