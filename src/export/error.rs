//! Why nothing was exported.

use crate::{
    checkpoint_files::CheckpointFilesError, child_process::ChildError, cli_error::CliError, exit_code::ExitCode,
};
use std::{io, path::PathBuf, process::ExitStatus};

/// A checkpoint was not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The path is not a directory with a configuration.
    #[error("`{}` is not a checkpoint directory: it has no config.json", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
    /// The weights are a pickle, or a name or a link leads out of the directory.
    #[error(transparent)]
    Files(#[from] CheckpointFilesError),
    /// Python cannot be started.
    #[error("cannot start `{}`: {source}", program.display())]
    PythonMissing {
        /// The program that was tried.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The exporter's files cannot be written.
    #[error("cannot write the exporter: {source}")]
    Write {
        /// The system's error.
        source: io::Error,
    },
    /// The exporter reported, on stderr, an error that the user can fix.
    #[error("not every checkpoint was exported")]
    Refused {
        /// The exit code of this command.
        code: ExitCode,
    },
    /// The exporter ended with an unexpected status.
    #[error("the exporter ended with {status}")]
    Crashed {
        /// The exporter's status.
        status: ExitStatus,
    },
    /// Waiting for it failed, or was interrupted.
    #[error(transparent)]
    Child(#[from] ChildError),
}

impl CliError for ExportError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Files(error) => error.help(),
            Self::NoCheckpoint { .. } => Some("give a directory as `save_pretrained` writes it".to_owned()),
            Self::PythonMissing { .. } | Self::Refused { code: ExitCode::EnvironmentMissing } => {
                Some("install that for the Python in use, or name another with --python or TESTGEN_PYTHON".to_owned())
            }
            Self::Write { .. } | Self::Refused { .. } | Self::Crashed { .. } | Self::Child(_) => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoCheckpoint { .. } | Self::Files(_) => ExitCode::BadInput,
            Self::PythonMissing { .. } => ExitCode::EnvironmentMissing,
            Self::Refused { code } => *code,
            Self::Write { .. } | Self::Crashed { .. } => ExitCode::Internal,
            Self::Child(error) => error.exit_code(),
        }
    }
}
