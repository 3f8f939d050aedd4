//! Writes a result to the file of `--out`, or to standard output.

use super::Out;
use crate::results::read::ReportError;
use std::path::Path;
use testgen_base::{atomic_file, cli_error::Error};

/// Writes `text`, and creates the directories above the file. A file is written completely, or
/// stays as it is.
pub(super) fn write_result(file: Option<&Path>, text: &str, out: &mut Out) -> Result<(), Error> {
    let Some(path) = file else {
        return write!(out, "{text}");
    };
    atomic_file::replace(path, text.as_bytes()).map_err(|source| ReportError::Write {
        path: path.to_owned(),
        source,
    })?;
    Ok(())
}
