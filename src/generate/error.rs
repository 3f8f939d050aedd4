//! Errors between reading specs and writing files.

use std::{io, path::PathBuf};
use testgen_base::{cli_error::CliError, exit_code::ExitCode, text::Quoted};
use testgen_types::bounded_file::FileError;

/// Why no suite was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The directory has no spec.
    #[error("there is no spec below `{}`", specs.display())]
    NoSpecs {
        /// The directory.
        specs: PathBuf,
    },
    /// No spec matches the filters.
    #[error("no spec matches the filters")]
    NoMatch {
        /// Some of the existing names.
        names: Vec<String>,
    },
    /// A directory cannot be used.
    #[error("`{}` cannot be used: {reason}", Quoted(&path.display().to_string()).bare())]
    BadDirectory {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no `testgen-runtime`.
    #[error("there is no runtime at `{}`", path.display())]
    NoRuntime {
        /// The path at which it was expected.
        path: PathBuf,
    },
    /// Files that testgen did not write would be overwritten.
    #[error("{} not written by testgen and would be overwritten: {}", if paths.len() == 1 { "a file was" } else { "files were" }, paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "))]
    Foreign {
        /// The files, relative to the directory of the suite.
        paths: Vec<String>,
    },
    /// A symbolic link could point out of the suite.
    #[error("`{path}` in the suite is a symbolic link, which could lead out of it")]
    Link {
        /// The link, relative to the directory of the suite.
        path: String,
    },
    /// A file of the suite cannot be read.
    #[error(transparent)]
    Unreadable(FileError),
    /// A file cannot be written or deleted.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Disk {
        /// `write` or `delete`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl CliError for GenerateError {
    fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoSpecs { .. } => {
                "write one with `testgen add DIR`, or name the directory with `--specs DIR`".to_owned()
            }
            Self::NoMatch { names } => format!("there are {}", names.join(", ")),
            Self::BadDirectory { .. } | Self::Disk { .. } | Self::Unreadable(_) => return None,
            Self::NoRuntime { .. } => {
                "say where it is with `--runtime PATH`, or take a version: `--runtime 0.1`".to_owned()
            }
            Self::Foreign { .. } => {
                "generated files begin with a marker, these do not; move them away, or choose another `--out`"
                    .to_owned()
            }
            Self::Link { .. } => "replace the link by a directory, or choose another `--out`".to_owned(),
        })
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Disk { .. } | Self::Unreadable(_) => ExitCode::Internal,
            _ => ExitCode::BadInput,
        }
    }
}
