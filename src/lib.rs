//! testgen writes hardware-aware conformance suites for Hugging Face models.
//!
//! Owns: specs, templates, the generated suite and the command line. Does not own: models and checks (`runtime/`),
//! device detection (`device/`), the rules over generated files (`verify/`).

pub mod add;
mod atomic_file;
mod checkpoint_files;
mod child_process;
pub mod cli;
mod cli_error;
pub mod cli_reference;
mod closed_enum;
pub mod compare;
mod date;
pub mod doctor;
pub mod estimate;
mod exit_code;
pub mod expected_failure;
pub mod export;
#[cfg(test)]
mod fuzz;
pub mod generate;
mod json_lines;
pub mod kernels;
mod limited_output;
pub mod logs;
pub mod matrix;
pub mod model_table;
pub mod operator_table;
mod python_program;
pub mod record;
pub mod replay;
pub mod report;
pub mod results;
pub mod run;
pub mod settings;
pub mod spec;
pub mod stress_table;
pub mod template;
pub mod text;
pub mod verification;

pub use child_process::ChildError;
pub use cli_error::{CliError, Error};
pub use exit_code::ExitCode;
pub use python_program::{PythonError, PythonProgram};
