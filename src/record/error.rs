//! Errors of recording.

use crate::{
    checkpoint_files::CheckpointFilesError, child_process::ChildError, cli_error::CliError, exit_code::ExitCode,
};
use std::{io, path::PathBuf, process::ExitStatus};

/// Nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The path is not a directory with a configuration.
    #[error("`{}` is not a checkpoint directory: it has no config.json", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
    /// The weights are a pickle or quantized, or a name or a link leads out of the directory.
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
    /// The recorder's files cannot be written.
    #[error("cannot write the recorder: {source}")]
    Write {
        /// The system's error.
        source: io::Error,
    },
    /// The recorder reported, on stderr, an error that the user can fix.
    #[error("nothing was recorded")]
    Refused {
        /// The exit code of this command.
        code: ExitCode,
    },
    /// The recorder ended with an unexpected status, which is a bug.
    #[error("the recorder ended with {status}; nothing was recorded")]
    Crashed {
        /// The recorder's status.
        status: ExitStatus,
    },
    /// Waiting for it failed, or was interrupted.
    #[error(transparent)]
    Child(#[from] ChildError),
}

impl CliError for RecordError {
    fn help(&self) -> Option<String> {
        let packages = "pip install torch transformers safetensors numpy";
        match self {
            Self::Files(error) => error.help(),
            Self::NoCheckpoint { .. } => Some("give a directory as `save_pretrained` writes it".to_owned()),
            Self::PythonMissing { .. } => {
                Some(format!("install Python 3 and run `{packages}`, or name one with --python or TESTGEN_PYTHON"))
            }
            Self::Refused { code: ExitCode::EnvironmentMissing } => {
                // The recorder has printed the packages, which depend on the model type.
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
