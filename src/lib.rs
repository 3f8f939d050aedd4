//! testgen writes hardware-aware conformance suites for Hugging Face models.
//!
//! Owns: specs, templates, the generated suite and the command line. Does not own: models and
//! checks (`crates/runtime`), device detection (`crates/device`), the rules over generated files
//! (`verify`). Rooms use only rooms below them:
//!
//! ```text
//! cli
//! doctor  matrix  logs  estimate
//! execution
//! results  reference
//! suite
//! base
//! ```

mod base;
pub mod cli;
pub mod doctor;
pub mod estimate;
pub mod execution;
#[cfg(test)]
mod fuzz;
pub mod logs;
pub mod matrix;
pub mod reference;
pub mod results;
pub mod suite;

pub use base::{
    child_process::ChildError,
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text,
};
pub use reference::python_program::{PythonError, PythonProgram};
