//! A package of Python: absent, damaged or old, and the command that installs it.

use crate::{
    facts::{Python, PythonPackage},
    row::{Area, DoctorRow, RowStatus},
};
use testgen_base::text::shell_quote;

/// The command that installs packages.
pub(super) fn install(python: &Python, packages: &str) -> String {
    format!(
        "{} -m pip install {packages}",
        shell_quote(&python.executable)
    )
}

/// The package is not installed.
pub(super) fn absent(python: &Python, name: &str) -> DoctorRow {
    // Only a note: a package is needed by its engine alone.
    let row = DoctorRow::new(Area::Python, name, RowStatus::Note, "not installed");
    row.because(
        format!("no Python package of this name in {}", python.executable),
        install(python, name),
    )
}

/// The package cannot be imported.
pub(super) fn broken(
    python: &Python,
    name: &str,
    package: &PythonPackage,
    error: &str,
) -> DoctorRow {
    let row = DoctorRow::new(
        Area::Python,
        name,
        RowStatus::Failure,
        format!("{}, cannot be imported: {error}", package.version),
    );
    row.because(
        "the package or a library that it needs is damaged or missing",
        install(python, &format!("--force-reinstall {name}")),
    )
}

/// Whether a version is older; one without two numbers is not.
pub(super) fn older(version: &str, minimum: (u32, u32)) -> bool {
    // The first two numbers alone: a later part may have a suffix, as `0+cu128`.
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    matches!((parts.next().flatten(), parts.next().flatten()), (Some(major), Some(minor)) if (major, minor) < minimum)
}
