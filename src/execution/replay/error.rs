//! Errors of computing a failed call again. A result that is still wrong is not an error.

use std::{io, path::PathBuf, time::Duration};
use testgen_base::{child_process::ChildError, cli_error::CliError, exit_code::ExitCode};
use testgen_operators::calls::FailedCallError;

/// A failed call was not computed again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file is not one of a failed call.
    #[error(transparent)]
    File(#[from] FailedCallError),
    /// The file has a call that cannot be computed.
    #[error("`{}` cannot be computed: {problem}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// The call failed on an engine that is a process.
    #[error("`{}` failed on the engine `{engine}`, and `testgen replay` computes with the native one", path.display())]
    OtherEngine {
        /// The file.
        path: PathBuf,
        /// The engine.
        engine: String,
    },
    /// There is no suite.
    #[error("there is no suite at `{}`", manifest.display())]
    NoSuite {
        /// Its Cargo.toml.
        manifest: PathBuf,
    },
    /// The device is absent, or cannot be opened.
    #[error("{problem}")]
    NoDevice {
        /// Why.
        problem: String,
        /// Whether the call failed on a simulated device.
        simulated: bool,
    },
    /// The suite's process does not start.
    #[error("cannot run `{}`: {source}", binary.display())]
    Start {
        /// The test binary.
        binary: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The process ended without an outcome.
    #[error("the process that computes the call ended early ({status}): {message}")]
    Crashed {
        /// Its exit status.
        status: String,
        /// The last line that it wrote.
        message: String,
    },
    /// The process did not end.
    #[error("the call was not computed within {} s", limit.as_secs())]
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// The process could not be waited for.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// The file of the smaller call cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl CliError for ReplayError {
    fn help(&self) -> Option<String> {
        match self {
            Self::File(_) | Self::Refused { .. } => Some(
                "`testgen run` writes these files to `failures` beside its report, one for each failed call".to_owned(),
            ),
            Self::NoSuite { .. } => {
                Some("write it with `testgen generate`, or name another one with `--out`".to_owned())
            }
            Self::NoDevice { simulated: true, .. } => {
                Some("the call failed on a simulated device: add `--simulate rocm`".to_owned())
            }
            Self::NoDevice { simulated: false, .. } => Some("choose another device: `--device cpu`".to_owned()),
            Self::OtherEngine { engine, .. } => {
                Some(format!("run the check in its name again, on that engine: `testgen run --engine {engine}`"))
            }
            Self::TimedOut { .. } => Some("`--timeout SECONDS` allows more".to_owned()),
            Self::Child(_) | Self::Start { .. } | Self::Crashed { .. } | Self::Write { .. } => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::File(_)
            | Self::Refused { .. }
            | Self::OtherEngine { .. }
            | Self::NoSuite { .. } => ExitCode::BadInput,
            Self::NoDevice { .. } => ExitCode::EnvironmentMissing,
            // A call that ends the process, or never ends, still fails.
            Self::Crashed { .. } | Self::TimedOut { .. } => ExitCode::Findings,
            Self::Child(error) => error.exit_code(),
            Self::Start { .. } | Self::Write { .. } => ExitCode::Internal,
        }
    }
}
