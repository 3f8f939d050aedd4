//! Errors of reading logs.

use super::format::LogFormat;
use std::path::PathBuf;
use testgen_base::{cli_error::CliError, exit_code::ExitCode};
use testgen_types::bounded_file::{FileError, FileProblem};

/// A log that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file is missing or not a regular file.
    #[error(transparent)]
    Open(#[from] FileError),
    /// Reading failed after some bytes.
    #[error("cannot read the log `{}`: {source}", path.display())]
    Read {
        /// The log.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is compressed.
    #[error("the log `{}` is compressed", path.display())]
    Compressed {
        /// The log.
        path: PathBuf,
    },
    /// No line has a known form.
    #[error("no line of the log `{}` has a known form ({segments} lines and states of progress bars were read)", path.display())]
    NothingRecognised {
        /// The log.
        path: PathBuf,
        /// The number of texts that were read.
        segments: u64,
    },
}

impl CliError for LogError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Open(FileError {
                problem: FileProblem::System(_),
                ..
            })
            | Self::Read { .. } => ExitCode::Internal,
            Self::Open(_) | Self::Compressed { .. } | Self::NothingRecognised { .. } => {
                ExitCode::BadInput
            }
        }
    }

    fn help(&self) -> Option<String> {
        match self {
            Self::Compressed { .. } => {
                Some("decompress it to standard input: `zcat FILE | testgen logs -`".to_owned())
            }
            Self::NothingRecognised { .. } => {
                let names: Vec<&str> = LogFormat::ALL
                    .iter()
                    .map(|format| format.as_str())
                    .collect();
                Some(format!(
                    "known are the lines of {}; docs/logs.md shows one of each",
                    names.join(", ")
                ))
            }
            Self::Open(_) | Self::Read { .. } => None,
        }
    }
}
