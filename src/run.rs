//! Running a suite: cargo builds it, its test binary runs, its records are judged.
//!
//! Owns: the child processes, what they see in their environment, and how far they are. Does not own: generating and
//! verifying the suite, and what records mean (see [`crate::report`]). The environment of this process is never changed.

mod build;
mod cargo;
pub(crate) mod child;
mod chosen_device;
mod error;
mod execution;
mod progress;
mod requirement;
mod selection;
mod simulation;
mod verdict;

pub use build::{BuildOptions, Suite, build};
pub use chosen_device::{ChosenDevice, ChosenDeviceError};
pub use error::RunError;
pub use execution::{Execution, ExecutionOptions, Listing, execute, list};
pub use progress::Progress;
pub use requirement::{Requirement, RequirementError};
pub use selection::{Selection, select};
pub use simulation::{Simulation, SimulationError};
pub use verdict::verdict;
