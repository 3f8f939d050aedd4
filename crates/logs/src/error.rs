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
    /// A directory cannot be searched.
    #[error("cannot search the directory `{}`: {source}", directory.display())]
    Search {
        /// The directory.
        directory: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A directory has too many files with names of logs.
    #[error("the directory `{}` has more than {limit} files with names of logs", directory.display())]
    TooManyFiles {
        /// The directory.
        directory: PathBuf,
        /// The most that are considered.
        limit: usize,
    },
    /// No file of a directory is a log.
    #[error("no file below `{}` is a training log (files tried: {files})", directory.display())]
    NoLog {
        /// The directory.
        directory: PathBuf,
        /// The files that were tried.
        files: usize,
    },
    /// A table of GPUs has no known heading.
    #[error("the table of GPUs `{}` has no heading of nvidia-smi, rocm-smi or amd-smi", path.display())]
    NotAGpuTable {
        /// The table.
        path: PathBuf,
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
            | Self::Read { .. }
            | Self::Search { .. } => ExitCode::Internal,
            Self::Open(_)
            | Self::Compressed { .. }
            | Self::NothingRecognised { .. }
            | Self::TooManyFiles { .. }
            | Self::NoLog { .. }
            | Self::NotAGpuTable { .. } => ExitCode::BadInput,
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
            Self::TooManyFiles { .. } => Some("name the log, or the directory of one run".to_owned()),
            Self::NoLog { .. } => Some(
                "files that end with .log, .txt, .out or .err are tried; name the log: `testgen logs FILE`"
                    .to_owned(),
            ),
            Self::NotAGpuTable { .. } => Some(
                "record it with a heading: `nvidia-smi --query-gpu=index,name,utilization.gpu,memory.used,power.draw --format=csv -l 1`, \
                 or `amd-smi metric -p -c -t -u -w 1 --csv`"
                    .to_owned(),
            ),
            Self::Open(_) | Self::Read { .. } | Self::Search { .. } => None,
        }
    }
}
