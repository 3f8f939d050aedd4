//! testgen writes hardware-aware conformance suites for Hugging Face models.
//!
//! Owns: specs, templates, the generated suite and the command line. Does not own: models and
//! checks (`crates/runtime`), device detection (`crates/device`), the rules over generated files
//! (`verify`). Rooms use only rooms below them:
//!
//! ```text
//! cli
//! matrix  estimate
//! execution
//! results  reference
//! suite
//! ```
//!
//! All rooms use `testgen-base`. Training logs (`testgen-logs`) and the diagnosis of a machine
//! (`testgen-doctor`) know no suite, and are separate crates.

pub mod cli;
pub mod estimate;
pub mod execution;
#[cfg(test)]
mod fuzz;
pub mod matrix;
pub mod reference;
pub mod results;
pub mod suite;

pub use reference::python_program::{PythonError, PythonProgram};
pub use testgen_base::{
    child_process::ChildError,
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text,
};
