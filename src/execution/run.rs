//! Runs a suite: cargo builds it, its test binary runs, and its report is evaluated.
//!
//! Owns: the child processes, their environment and their progress. Does not own: generating and
//! verifying the suite, and reading reports (see [`crate::results::read`]). The environment of this
//! process is never changed.

mod build;
mod build_directory;
mod built;
mod cargo;
mod clock;
mod device_selection;
mod engines;
mod error;
mod execution;
mod failed_calls;
mod log_end;
mod outcome;
mod selection;
mod simulation;
mod stress;
mod suite;
mod suite_process;

pub use build::{BuildOptions, build};
pub use built::find_built;
pub use device_selection::{DeviceSelection, DeviceSelectionError, ProcessDevices};
pub use engines::engine_variables;
pub use error::RunError;
pub use execution::{
    Execution, ExecutionOptions, Listing, SuitePart, Work, execute, keep_reports, list,
};
pub use failed_calls::failures_variable;
pub use log_end::last_lines;
pub use outcome::{Run, summarize};
pub use selection::{Selection, models_on_devices, models_on_gpus, select};
pub use simulation::{Simulation, SimulationError};
pub use stress::{SoakTime, SoakTimeError, only_stress, stress_variables};
pub use suite::BuiltSuite;
pub(crate) use suite_process::{REPORT, command_without_choices};
