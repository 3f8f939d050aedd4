//! The programs in Python that are part of testgen: the recorder of goldens and the exporter of
//! graphs.
//!
//! Owns what both do: looking at the checkpoint first, starting Python, the exit codes, and the
//! errors. Does not own their files and arguments, nor the Python of engines.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
};
use tempfile::TempDir;
use testgen_base::{
    checkpoint_files::{self, CheckpointFilesError},
    child_process::{self, ChildError},
    cli_error::CliError,
    exit_code::ExitCode,
};
use testgen_checkpoints::SyntheticError;
use testgen_python::EmbeddedProgram;

/// A program in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonProgram {
    /// `testgen record`.
    Recorder,
    /// `testgen export`.
    Exporter,
}

impl PythonProgram {
    /// Refuses a directory that no Python may read.
    ///
    /// # Errors
    ///
    /// When it has no configuration, or its files cannot be trusted.
    pub(crate) fn check(checkpoint: &Path) -> Result<(), PythonError> {
        // Without following a link: the check after it decides about links.
        if checkpoint.join("config.json").symlink_metadata().is_err() {
            return Err(PythonError::NoCheckpoint {
                path: checkpoint.to_owned(),
            });
        }
        Ok(checkpoint_files::check(checkpoint)?)
    }

    /// Writes the files of the program into a temporary directory.
    pub(crate) fn unpack(self, files: &EmbeddedProgram) -> Result<TempDir, PythonError> {
        let unpacked = tempfile::tempdir().and_then(|directory| {
            files.write(directory.path())?;
            Ok(directory)
        });
        unpacked.map_err(|source| PythonError::Write {
            program: self,
            source,
        })
    }

    /// Starts `command`, which ends with this process.
    pub(crate) fn start(self, mut command: Command) -> Result<Child, PythonError> {
        // Python would otherwise go on computing after an interrupt.
        child_process::end_with_this_process(&mut command);
        command.spawn().map_err(|source| {
            let python = command.get_program().into();
            PythonError::Missing {
                python,
                program: self,
                source,
            }
        })
    }

    /// The exit codes of both: 0 done, 1 cannot be done, 3 a package is missing; argparse has 2.
    pub(crate) fn outcome(self, status: ExitStatus) -> Result<(), PythonError> {
        match status.code() {
            Some(0) => Ok(()),
            Some(1 | 2) => Err(PythonError::Refused {
                program: self,
                code: ExitCode::BadInput,
            }),
            Some(3) => Err(PythonError::Refused {
                program: self,
                code: ExitCode::EnvironmentMissing,
            }),
            Some(_) | None => Err(PythonError::Crashed {
                program: self,
                status,
            }),
        }
    }

    /// The packages that every model needs; the program itself reports the others.
    const fn packages(self) -> &'static str {
        match self {
            Self::Recorder => "torch transformers safetensors numpy",
            Self::Exporter => "torch transformers safetensors numpy onnx onnxscript",
        }
    }

    const fn consequence(self) -> &'static str {
        match self {
            Self::Recorder => "nothing was recorded",
            Self::Exporter => "not every checkpoint was exported",
        }
    }
}

impl fmt::Display for PythonProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recorder => "recorder",
            Self::Exporter => "exporter",
        })
    }
}

/// A program in Python did not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PythonError {
    /// The path is not a directory with a configuration.
    #[error("`{}` is not a checkpoint directory: it has no config.json", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
    /// The weights are a pickle or quantized, or a name or a link leads out of the directory.
    #[error(transparent)]
    Files(#[from] CheckpointFilesError),
    /// There is a golden already.
    #[error("`{}` exists", path.display())]
    Exists {
        /// The golden.
        path: PathBuf,
    },
    /// The weights of a synthetic checkpoint cannot be made.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// A file of a synthetic checkpoint cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Recorded {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Python cannot be started.
    #[error("cannot start `{}`: {source}", python.display())]
    Missing {
        /// The Python that was tried.
        python: PathBuf,
        /// The program that it would have run.
        program: PythonProgram,
        /// The system's error.
        source: io::Error,
    },
    /// The program's files cannot be written.
    #[error("cannot write the {program}: {source}")]
    Write {
        /// The program.
        program: PythonProgram,
        /// The system's error.
        source: io::Error,
    },
    /// The program reported, on stderr, an error that the user can fix.
    #[error("{}", program.consequence())]
    Refused {
        /// The program.
        program: PythonProgram,
        /// The exit code of this command.
        code: ExitCode,
    },
    /// The program ended with an unexpected status, which is a bug.
    #[error("the {program} ended with {status}; {}", program.consequence())]
    Crashed {
        /// The program.
        program: PythonProgram,
        /// Its status.
        status: ExitStatus,
    },
    /// Waiting for it failed, or was interrupted.
    #[error(transparent)]
    Child(#[from] ChildError),
}

impl CliError for PythonError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Files(error) => error.help(),
            Self::Exists { .. } => Some("give --force to replace it".to_owned()),
            Self::NoCheckpoint { .. } => {
                Some("give a directory as `save_pretrained` writes it".to_owned())
            }
            Self::Missing { program, .. } => Some(format!(
                "install Python 3 and run `pip install {}`, or name one with --python or TESTGEN_PYTHON",
                program.packages()
            )),
            Self::Refused {
                code: ExitCode::EnvironmentMissing,
                ..
            } => {
                // The program has printed the packages, which depend on the model type.
                Some("install that for the Python in use, or name another with --python or TESTGEN_PYTHON".to_owned())
            }
            Self::Write { .. }
            | Self::Synthetic(_)
            | Self::Recorded { .. }
            | Self::Refused { .. }
            | Self::Crashed { .. }
            | Self::Child(_) => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::NoCheckpoint { .. }
            | Self::Files(_)
            | Self::Exists { .. }
            | Self::Synthetic(_)
            | Self::Recorded { .. } => ExitCode::BadInput,
            Self::Missing { .. } => ExitCode::EnvironmentMissing,
            Self::Refused { code, .. } => *code,
            Self::Write { .. } | Self::Crashed { .. } => ExitCode::Internal,
            Self::Child(error) => error.exit_code(),
        }
    }
}
