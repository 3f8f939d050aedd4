//! Errors of planning and of writing the files.

use std::{io, path::PathBuf};
use testgen_base::{cli_error::CliError, exit_code::ExitCode, text::limited};
use testgen_types::bounded_file::FileError;

/// No plan can be made, or it cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// A key of the section has an invalid value.
    #[error("`{key}` of the `ci` section of testgen.toml: {what}")]
    Setting {
        /// The key.
        key: String,
        /// The problem.
        what: String,
        /// How to fix it.
        help: String,
    },
    /// A file that testgen did not write would be overwritten.
    #[error("`{}` was not written by testgen and would be overwritten", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
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

impl MatrixError {
    pub(super) fn setting(
        key: impl Into<String>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::Setting {
            key: limited(&key.into()),
            what: limited(&what.into()),
            help: limited(&help.into()),
        }
    }
}

impl CliError for MatrixError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Setting { help, .. } => Some(help.clone()),
            Self::Foreign { .. } => {
                Some("move it away, or print the files with `testgen matrix`".to_owned())
            }
            Self::Unreadable(_) | Self::Disk { .. } => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Setting { .. } | Self::Foreign { .. } => ExitCode::BadInput,
            Self::Unreadable(_) | Self::Disk { .. } => ExitCode::Internal,
        }
    }
}
