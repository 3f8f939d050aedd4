//! testgen writes hardware-aware conformance suites for Hugging Face models.
//!
//! Owns: specs, templates, the generated suite and the command line. Does not own: models and checks (`runtime/`),
//! device detection (`device/`), the rules over generated files (`verify/`).

pub mod add;
pub mod cli;
pub mod compare;
mod exit_code;
pub mod expected_failure;
mod failure;
pub mod generate;
pub mod matrix;
pub mod model_table;
mod quoted;
pub mod record;
pub mod reference;
pub mod report;
pub mod run;
pub mod settings;
mod shell;
pub mod spec;
pub mod template;
pub mod verification;
mod words;
mod xml;

pub use exit_code::ExitCode;
pub use failure::{Error, Failure};
