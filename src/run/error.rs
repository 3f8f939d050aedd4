//! What can go wrong around a suite; failed checks are no error, they are the result.

use crate::{ExitCode, Failure};
use std::{io, path::PathBuf, process::ExitStatus};
use testgen_contract::DeviceKind;

/// Why a suite could not be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no cargo.
    #[error("cannot start `{}`: {source}", program.display())]
    CargoMissing {
        /// The program that was tried.
        program: PathBuf,
        /// Why it does not start.
        source: io::Error,
    },
    /// The suite does not compile; cargo has said why.
    #[error("the suite `{}` does not build ({status})", manifest.display())]
    Build {
        /// The suite's Cargo.toml.
        manifest: PathBuf,
        /// How cargo ended.
        status: ExitStatus,
    },
    /// Cargo built no test binary, or several.
    #[error("the suite `{}` has {count} test binaries, not one", manifest.display())]
    TestBinaries {
        /// The suite's Cargo.toml.
        manifest: PathBuf,
        /// How many there are.
        count: usize,
    },
    /// The test binary does not start.
    #[error("cannot run `{}`: {source}", binary.display())]
    Start {
        /// The test binary.
        binary: PathBuf,
        /// Why it does not start.
        source: io::Error,
    },
    /// The test binary cannot say which tests it has.
    #[error("`{}` does not list its tests ({status}): {message}", binary.display())]
    List {
        /// The test binary.
        binary: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        message: String,
    },
    /// There is no source tree with the simulator.
    #[error("the simulator `hip-sim` is not beside the runtime")]
    NoSimulator,
    /// The simulator was built, and something is missing.
    #[error("cargo built no `{target}` of the simulator")]
    SimulatorIncomplete {
        /// The name of cargo's target.
        target: String,
    },
    /// The simulator cannot be what was asked for.
    #[error("nothing is simulated: {message}")]
    Simulation {
        /// What the simulator says.
        message: String,
    },
    /// Two devices of a kind are named.
    #[error("two {kind} devices are named, and a run computes on one of each kind")]
    TwoDevices {
        /// The kind.
        kind: DeviceKind,
    },
    /// The filters leave nothing to run.
    #[error("no test of the suite matches the filters")]
    NothingSelected,
    /// A file beside the suite cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A child process cannot be waited for.
    #[error("lost the child process: {source}")]
    Wait {
        /// Why.
        source: io::Error,
    },
    /// The user or the system asked to stop; the child process was ended.
    #[error("interrupted")]
    Interrupted,
}

impl Failure for RunError {
    fn help(&self) -> Option<String> {
        match self {
            Self::CargoMissing { .. } => {
                Some("install Rust (https://rustup.rs), or set CARGO to the cargo to use".to_owned())
            }
            Self::Build { .. } => Some("the compiler's errors are above".to_owned()),
            Self::TestBinaries { .. } => Some("write the suite anew with `testgen generate`".to_owned()),
            Self::NoSimulator => {
                Some("name the runtime of testgen's source tree: `--runtime some/testgen/runtime`".to_owned())
            }
            Self::TwoDevices { .. } => Some("run once for each of them".to_owned()),
            Self::NothingSelected => Some("`testgen list` shows the names and architectures of all specs".to_owned()),
            Self::Simulation { .. } | Self::SimulatorIncomplete { .. } => None,
            Self::List { .. } | Self::Start { .. } | Self::Write { .. } | Self::Wait { .. } | Self::Interrupted => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::CargoMissing { .. } | Self::NoSimulator => ExitCode::EnvironmentMissing,
            Self::Build { .. } | Self::List { .. } | Self::Interrupted => ExitCode::Findings,
            Self::NothingSelected | Self::TwoDevices { .. } | Self::Simulation { .. } => ExitCode::BadInput,
            Self::TestBinaries { .. }
            | Self::SimulatorIncomplete { .. }
            | Self::Start { .. }
            | Self::Write { .. }
            | Self::Wait { .. } => ExitCode::Internal,
        }
    }
}
