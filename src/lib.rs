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
//! bench  report
//! compare
//! results  reference  verification
//! generate  add
//! template
//! settings  spec
//! ```
//!
//! All rooms use `testgen-base`. Training logs (`testgen-logs`) and the diagnosis of a machine
//! (`testgen-doctor`) know no suite, and are separate crates.

pub mod add;
pub mod bench;
pub mod cli;
pub mod compare;
pub mod estimate;
pub mod execution;
#[cfg(test)]
mod fuzz;
pub mod generate;
pub mod matrix;
pub mod reference;
pub mod report;
pub mod results;
pub mod settings;
pub mod spec;
pub mod template;
pub mod verification;

pub use reference::python_program::{PythonError, PythonProgram};
pub use testgen_base::{
    child_process::ChildError,
    cli_error::{CliError, Error},
    exit_code::ExitCode,
    text,
};
