//! The parts that the commands of testgen share: errors with exit codes, files that are written
//! completely or not at all, child processes, progress, pages, text.
//!
//! Does not own anything about suites, specs and reports.

pub mod atomic_file;
pub mod checkpoint_files;
pub mod child_process;
pub mod cli_error;
pub mod closed_enum;
pub mod date;
pub mod exit_code;
pub mod json_lines;
pub mod limited_output;
pub mod page;
pub mod progress;
pub mod text;
