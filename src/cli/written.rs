//! Writes a result to the file of `--out`, or to standard output.

use super::Out;
use crate::{cli_error::Error, results::ReportError};
use std::{fs, path::Path};

/// Writes `text`, and creates the directories above the file.
pub(super) fn write_result(file: Option<&Path>, text: &str, out: &mut Out) -> Result<(), Error> {
    let Some(path) = file else { return write!(out, "{text}") };
    let failed = |source| ReportError::Write { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)?;
    Ok(())
}
