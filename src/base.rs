//! The parts that every room uses: errors with exit codes, files that are written completely or not
//! at all, child processes, text.

pub(crate) mod atomic_file;
pub(crate) mod checkpoint_files;
pub(crate) mod child_process;
pub(crate) mod cli_error;
pub(crate) mod closed_enum;
pub(crate) mod date;
pub(crate) mod exit_code;
pub(crate) mod json_lines;
pub(crate) mod limited_output;
pub(crate) mod progress;
pub mod text;
