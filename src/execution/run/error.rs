//! Errors of building and running a suite. Failed checks are not errors but results.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};
use testgen_base::{child_process::ChildError, cli_error::CliError, exit_code::ExitCode};
use testgen_types::RequirementError;

/// A suite could not be built or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Cargo does not start.
    #[error("cannot start `{}`: {source}", program.display())]
    CargoMissing {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The suite does not compile; cargo has printed the errors.
    #[error("the suite `{}` does not build ({status})", manifest.display())]
    Build {
        /// The suite's Cargo.toml.
        manifest: PathBuf,
        /// Cargo's exit status.
        status: ExitStatus,
    },
    /// Cargo built no test binary, or several.
    #[error("the suite `{}` has {count} test binaries, not one", manifest.display())]
    TestBinaries {
        /// The suite's Cargo.toml.
        manifest: PathBuf,
        /// The number of test binaries.
        count: usize,
    },
    /// The test binary does not start.
    #[error("cannot run `{}`: {source}", binary.display())]
    Start {
        /// The test binary.
        binary: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The test binary fails to list its tests.
    #[error("`{}` does not list its tests ({status}): {message}", binary.display())]
    List {
        /// The test binary.
        binary: PathBuf,
        /// Its exit status.
        status: ExitStatus,
        /// Its output.
        message: String,
    },
    /// The simulator's source code is missing.
    #[error("the simulator `hip-sim` is not next to the runtime")]
    NoSimulator,
    /// The simulator was built, but a file of it is missing.
    #[error("cargo built no `{target}` of the simulator")]
    SimulatorIncomplete {
        /// The name of the cargo target.
        target: String,
    },
    /// The simulator rejects the requested devices.
    #[error("cannot simulate these devices: {message}")]
    Simulation {
        /// The simulator's error.
        message: String,
    },
    /// `testgen kernels` with two devices of one kind.
    #[error(
        "`testgen kernels` uses one device of each kind, but several devices of a kind are selected"
    )]
    KernelsOnSeveralDevices,
    /// Devices that are timed at the same time disturb each other.
    #[error(
        "`testgen bench` uses one device of each kind, but several devices of a kind are selected"
    )]
    TimesOnSeveralDevices,
    /// Requirements that no suite can have together.
    #[error("--require: {0}")]
    Requirement(RequirementError),
    /// None of the engines has an implementation of some of the models.
    #[error(
        "no selected engine computes {}: the native engine does not implement {}",
        quoted(models),
        quoted(types)
    )]
    NotComputed {
        /// The names of the specs.
        models: Vec<String>,
        /// Their model types.
        types: Vec<String>,
    },
    /// `--tune` or `--tuned` without an engine whose products come from a vendor's library.
    #[error("no selected engine multiplies matrices with a vendor's library")]
    NothingTuned,
    /// The file of `--tuned` does not exist.
    #[error("`{}` is not a file", path.display())]
    NotTuned {
        /// The file.
        path: PathBuf,
    },
    /// No test matches the filters.
    #[error("no test of the suite matches the filters")]
    NothingSelected,
    /// Kernels can be chosen on GPUs only.
    #[error("`testgen kernels` needs a GPU: no selected model has checks on CUDA or ROCm")]
    NoGpuSelected,
    /// A file of the run cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The child process could not be waited for.
    #[error(transparent)]
    Child(#[from] ChildError),
}

impl RunError {
    /// The error for a file that cannot be written, of the system's error.
    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}

impl CliError for RunError {
    fn help(&self) -> Option<String> {
        match self {
            Self::CargoMissing { .. } => {
                Some("install Rust (https://rustup.rs), or set CARGO to the cargo to use".to_owned())
            }
            Self::Build { .. } => Some("the compiler's errors are above".to_owned()),
            Self::TestBinaries { .. } => Some("write the suite again with `testgen generate`".to_owned()),
            Self::NoSimulator => {
                Some("use the runtime of testgen's source tree: `--runtime path/to/testgen/crates/runtime`".to_owned())
            }
            Self::KernelsOnSeveralDevices | Self::TimesOnSeveralDevices => Some("run once for each of them".to_owned()),
            Self::NoGpuSelected => Some("select `--device cuda` or `--device rocm`".to_owned()),
            Self::NotComputed { .. } => Some(
                "add an engine that does, such as `--engine torch`, here or as `engines` of testgen.toml, or select other models with \
                 `--name`"
                    .to_owned(),
            ),
            Self::NothingTuned => Some("add `--engine native/vendor`".to_owned()),
            Self::NotTuned { .. } => Some("`--tune FILE` writes such a file".to_owned()),
            Self::NothingSelected => Some("`testgen show specs` shows the names and architectures of all specs".to_owned()),
            Self::Requirement(_) | Self::Simulation { .. } | Self::SimulatorIncomplete { .. } => None,
            Self::List { .. } | Self::Start { .. } | Self::Write { .. } | Self::Child(_) => None,
        }
    }

    fn exit_code(&self) -> ExitCode {
        match self {
            Self::CargoMissing { .. } | Self::NoSimulator => ExitCode::EnvironmentMissing,
            // A suite that does not compile, or rejects its environment, is a result of the run and
            // not an error of testgen.
            Self::Build { .. } | Self::List { .. } => ExitCode::Findings,
            Self::NotComputed { .. }
            | Self::Requirement(_)
            | Self::NothingSelected
            | Self::NothingTuned
            | Self::NotTuned { .. }
            | Self::NoGpuSelected
            | Self::KernelsOnSeveralDevices
            | Self::TimesOnSeveralDevices
            | Self::Simulation { .. } => ExitCode::BadInput,
            Self::TestBinaries { .. }
            | Self::SimulatorIncomplete { .. }
            | Self::Start { .. }
            | Self::Write { .. } => ExitCode::Internal,
            Self::Child(error) => error.exit_code(),
        }
    }
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
