//! The test binary of a suite: every check of every harness is one test that passes, fails, or is ignored with a
//! reason.
//!
//! Owns: listing, devices, locks, the report and the exit code. Does not own: the checks. The checks of a missing
//! device are ignored, never passed; if the device is required, they fail.

mod device_selection;
mod devices;
mod locks;
mod trial;

use crate::{harness::Harness, report::Report, require::Requirements};
use device_selection::DeviceSelection;
use devices::Devices;
use libtest_mimic::Arguments;
use locks::Locks;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};
use testgen_device::DeviceIndex;
use testgen_types::{DeviceKind, Registration, ReportEntry, test_name};

/// What the checks of one process share.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The directory that checkpoints are relative to.
    base: PathBuf,
    requirements: Requirements,
    devices: Devices,
    locks: Locks,
    report: Report,
    ignored_mode: IgnoredMode,
}

/// How ignored tests are reported to the test runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IgnoredMode {
    /// When the test runs, with the reason: libtest prints both.
    AtRun,
    /// In the list of tests, by the ignored flag. cargo-nextest runs a process per test and only sees its exit code, so
    /// a test without the flag can only pass or fail.
    InList,
}

/// Runs the checks of `harnesses` that the command line selects. Exit codes: 0 no failure, 101 a failure, 2 an invalid
/// environment variable or argument.
///
/// `manifest_dir` is the suite's directory at build time; `CARGO_MANIFEST_DIR` at run time takes precedence.
pub fn main(harnesses: &[&'static Harness], manifest_dir: &str) -> ExitCode {
    let arguments = Arguments::from_args();
    let suite = match Suite::from_environment(harnesses, manifest_dir, arguments.list) {
        Ok(suite) => Arc::new(suite),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let checks =
        harnesses.iter().flat_map(|harness| harness.required().into_iter().map(move |check| (*harness, check)));
    let trials = checks.map(|(harness, registration)| trial::trial(&suite, harness, registration)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs one check as the suite does, with the checkpoint below `base`, and returns its report entry. Requires no device
/// and writes no report; detecting a missing device is left to the harness.
pub fn run_check(harness: &Harness, registration: Registration, base: &Path) -> ReportEntry {
    trial::run(harness, registration, base, &Requirements::default(), DeviceIndex::Auto).0
}

impl Suite {
    fn from_environment(harnesses: &[&'static Harness], manifest_dir: &str, list: bool) -> Result<Self, String> {
        let requirements = Requirements::from_environment().map_err(|error| error.to_string())?;
        let tested = |kind| harnesses.iter().any(|harness| runs_on(harness, kind));
        if let Some(kind) = requirements.kinds().find(|kind| !tested(*kind)) {
            let variable = crate::require::REQUIRE_VARIABLE;
            return Err(format!("{variable} asks for {kind}, and no harness of this suite has checks there"));
        }
        let nextest = std::env::var_os("NEXTEST").is_some();
        Ok(Self {
            base: std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(manifest_dir), PathBuf::from),
            requirements,
            devices: Devices::new(DeviceSelection::from_environment().map_err(|error| error.to_string())?),
            locks: Locks::default(),
            report: Report::from_environment().map_err(|error| error.to_string())?,
            ignored_mode: if nextest || list { IgnoredMode::InList } else { IgnoredMode::AtRun },
        })
    }
}

/// Whether the harness has a check on `kind` that is not skipped.
fn runs_on(harness: &Harness, kind: DeviceKind) -> bool {
    let required = harness.required();
    required.into_iter().any(|check| check.device == kind && harness.skip_reason(check).is_none())
}

/// The name of a check's test.
fn name_of(harness: &Harness, registration: Registration) -> String {
    let spec = harness.spec;
    test_name(spec.architecture, spec.name, registration.device, registration.check, registration.precision)
}
