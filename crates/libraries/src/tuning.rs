//! The algorithm of each matrix product and each convolution by measurement: the file of `--tune`.
//!
//! Owns the file and its lines. Does not own the measurement, which is in `vendor_libraries`.

use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use testgen_types::{
    TunedComputation, TunedComputationKey,
    bounded_file::{FileError, limit, read_text},
    stable_digest,
};

/// The measured computations of a file, which several threads read and extend.
#[derive(Debug)]
pub struct TuningFile {
    path: PathBuf,
    mode: TuningMode,
    known: Mutex<HashMap<TunedComputationKey, TunedComputation>>,
    /// The digest of the content when it was opened.
    content: String,
}

/// The treatment of a computation that the file does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuningMode {
    /// It is measured and added: `--tune`.
    Measure,
    /// The library chooses: `--tuned`.
    Read,
}

/// Why a file of tuned computations cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TuningFileError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// A line is not one of this version.
    #[error("`{}`, line {line}: {problem}; remove it, or tune into a new file", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The problem.
        problem: String,
    },
    /// It cannot be written.
    #[error("`{}` cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl TuningFile {
    /// Opens the file. To measure, it is created if it does not exist; what it has is not measured
    /// again.
    ///
    /// # Errors
    ///
    /// It cannot be read or written, or has a line of another format.
    pub fn load(path: &Path, mode: TuningMode) -> Result<Self, TuningFileError> {
        if mode == TuningMode::Measure {
            // A file that cannot be written is an error here, and not after the first measurement.
            append(path, "")?;
        }
        let text = read_text(path, limit::REPORT)?;
        let mut known = HashMap::new();
        for (index, line) in text.lines().enumerate() {
            let computation = parse(line).map_err(|problem| TuningFileError::Line {
                path: path.to_owned(),
                line: index + 1,
                problem,
            })?;
            // Of two processes that measured the same computation the later line counts.
            known.insert(computation.key.clone(), computation);
        }
        Ok(Self {
            path: path.to_owned(),
            mode,
            known: Mutex::new(known),
            content: stable_digest(&text),
        })
    }

    /// The treatment of a computation that the file does not have.
    pub fn mode(&self) -> TuningMode {
        self.mode
    }

    /// How fingerprints name the choice by this file: another file may choose other kernels.
    pub fn label(&self) -> String {
        match self.mode {
            // Without the digest of the content, which grows during the run.
            TuningMode::Measure => "tuning".to_owned(),
            TuningMode::Read => format!("tuned {}", self.content),
        }
    }

    /// The measurements of a computation, if the file has them.
    pub(crate) fn find(&self, key: &TunedComputationKey) -> Option<TunedComputation> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).cloned()
    }

    /// Adds a computation, in memory and at the end of the file.
    pub(crate) fn add(&self, computation: &TunedComputation) -> Result<(), TuningFileError> {
        let line = serde_json::to_string(computation).expect("it has string keys only");
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // To the file at once, so that what was measured is not lost if the process ends.
        append(&self.path, &format!("{line}\n"))?;
        known.insert(computation.key.clone(), computation.clone());
        Ok(())
    }
}

fn parse(line: &str) -> Result<TunedComputation, String> {
    let computation: TunedComputation =
        serde_json::from_str(line).map_err(|error| format!("not a tuned computation: {error}"))?;
    if computation.version == TunedComputation::VERSION {
        Ok(computation)
    } else {
        Err(format!(
            "version {}, expected {}",
            computation.version,
            TunedComputation::VERSION
        ))
    }
}

/// Writes `text` in one call.
fn append(path: &Path, text: &str) -> Result<(), TuningFileError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let write = || {
        folder.map_or(Ok(()), fs::create_dir_all)?;
        // In one call, so that lines of several processes are not mixed.
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|error| TuningFileError::Write {
        path: path.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::{TuningFile, TuningMode};
    use testgen_types::{
        ComputationDescription, TunedAlgorithm, TunedComputation, TunedComputationKey,
    };

    fn product(name: &str) -> TunedComputation {
        TunedComputation {
            version: TunedComputation::VERSION,
            key: TunedComputationKey {
                device: "AMD gfx942".to_owned(),
                libraries: vec!["rocblas 4.4.0".to_owned()],
                computation: ComputationDescription::Product(name.to_owned()),
            },
            algorithms: vec![TunedAlgorithm {
                library: "rocblas".to_owned(),
                id: "default".to_owned(),
                configuration: String::new(),
                microseconds: Some(2.0),
                problem: None,
            }],
        }
    }

    #[test]
    fn what_was_added_is_read_again() {
        let folder = tempfile::tempdir().expect("there is a temporary directory");
        let path = folder.path().join("new/tuned.jsonl");
        let open = |mode| TuningFile::load(&path, mode);
        assert!(open(TuningMode::Read).is_err());
        let file = open(TuningMode::Measure).expect("it is created");
        for name in ["a", "b"] {
            file.add(&product(name)).expect("it is writable");
        }
        let again = open(TuningMode::Read).expect("it exists");
        assert_eq!(again.find(&product("b").key), Some(product("b")));
        assert_eq!(again.find(&product("c").key), None);
        let label = again.label();
        file.add(&product("c")).expect("it is writable");
        assert_ne!(open(TuningMode::Read).expect("it exists").label(), label);
    }

    #[test]
    fn a_line_of_another_format_is_an_error_with_its_number() {
        let folder = tempfile::tempdir().expect("there is a temporary directory");
        let path = folder.path().join("tuned.jsonl");
        let line = serde_json::to_string(&product("a")).expect("has string keys");
        let newer = line.replace("\"version\":1", "\"version\":2");
        for (wrong, problem) in [
            (newer.as_str(), "version 2"),
            ("{", "not a tuned computation"),
        ] {
            std::fs::write(&path, format!("{line}\n{wrong}\n")).expect("it is writable");
            let error = TuningFile::load(&path, TuningMode::Read).expect_err("line 2 is wrong");
            let message = error.to_string();
            assert!(message.contains("line 2"), "{message}");
            assert!(message.contains(problem), "{message}");
        }
    }
}
