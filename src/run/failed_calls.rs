//! The folder for failed calls of operators, which `testgen replay` computes again.

use super::{error::RunError, execution::Work};
use std::{ffi::OsString, path::Path};

/// The variable of the suite with that folder, `failures` beside the report. None with `--kernels`, which runs no checks.
///
/// # Errors
///
/// When the report is a relative path and the current directory does not exist.
pub fn failures_variable(report: &Path, work: Work) -> Result<Option<(&'static str, OsString)>, RunError> {
    if work == Work::Kernels {
        return Ok(None);
    }
    // Absolute, because the suite runs in another directory.
    let absolute = std::path::absolute(report).map_err(|source| RunError::Write { path: report.to_owned(), source })?;
    Ok(Some(("TESTGEN_FAILURES", absolute.with_file_name("failures").into())))
}
