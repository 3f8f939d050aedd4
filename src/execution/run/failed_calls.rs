//! The folder for failed calls of operators, which `testgen replay` computes again.

use super::error::RunError;
use std::{ffi::OsString, path::Path};

/// The variable of the suite with that folder, `failures` beside the report.
///
/// # Errors
///
/// When the report is a relative path and the current directory does not exist.
pub fn failures_variable(report: &Path) -> Result<(&'static str, OsString), RunError> {
    // Absolute, because the suite runs in another directory.
    let absolute = std::path::absolute(report).map_err(|source| RunError::Write {
        path: report.to_owned(),
        source,
    })?;
    Ok((
        "TESTGEN_FAILURES",
        absolute.with_file_name("failures").into(),
    ))
}
