//! `testgen verify --fix`: applies automatic fixes; the only part of a verification that writes.

use crate::{
    generate::{HarnessExpectation, SuiteLayout, replace_file},
    settings::Settings,
    spec::load_all,
};
use std::path::{Path, PathBuf};
use testgen_base::cli_error::Error;
use testgen_types::bounded_file::{limit, read_text};
use testgen_verify::{Expectation, HarnessSource, autofix};

/// A file that was fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedFile {
    /// The file, as the user would name it.
    pub path: String,
    /// The fixes that were applied.
    pub fixes: Vec<String>,
}

/// Fixes every harness of the project that has a spec.
///
/// # Errors
///
/// When specs are invalid or a file cannot be written.
pub fn fix_project(settings: &Settings) -> Result<Vec<FixedFile>, Error> {
    // Not an error here: the verification that follows reports it.
    if !settings.specs.exists() {
        return Ok(Vec::new());
    }
    let layout = SuiteLayout::new(settings)?;
    let mut fixed = Vec::new();
    for loaded in load_all(&settings.specs)? {
        let HarnessExpectation { path, expectation } = HarnessExpectation::new(&loaded, &layout)?;
        let shown = settings.out.join(&path);
        fixed.extend(fix(
            &layout.out().join(&path),
            shown.display().to_string(),
            Some(&expectation),
        )?);
    }
    Ok(fixed)
}

/// Fixes single files, each against its own `SPEC`. A file that cannot be read is left to the
/// verification.
///
/// # Errors
///
/// When a file cannot be written.
pub fn fix_files(paths: &[PathBuf]) -> Result<Vec<FixedFile>, Error> {
    let mut fixed = Vec::new();
    for path in paths {
        fixed.extend(fix(path, path.display().to_string(), None)?);
    }
    Ok(fixed)
}

fn fix(
    path: &Path,
    shown: String,
    expectation: Option<&Expectation>,
) -> Result<Option<FixedFile>, Error> {
    // A link could point out of the suite; `generate` rejects it.
    if path.is_symlink() {
        return Ok(None);
    }
    // The verifier itself reports a file that cannot be read.
    let Ok(text) = read_text(path, limit::SOURCE) else {
        return Ok(None);
    };
    let Some(fixed) = autofix(
        &HarnessSource {
            path: &shown,
            text: &text,
        },
        expectation,
    ) else {
        return Ok(None);
    };
    replace_file(path, fixed.text.as_bytes())?;
    Ok(Some(FixedFile {
        path: shown,
        fixes: fixed.fixes,
    }))
}
