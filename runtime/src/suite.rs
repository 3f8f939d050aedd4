//! The test binary of a suite: every check of every harness as one test that can pass, fail, or be ignored with a reason.
//!
//! Owns: listing, devices, locks, records and the exit code. Does not own: what a check proves. A device that is absent is
//! listed as ignored, never as passed; under a requirement it fails.

mod chosen;
mod devices;
mod locks;
mod trial;

use crate::{Harness, Registered, report::Report, require::Requirements};
use chosen::Chosen;
use devices::Devices;
use libtest_mimic::Arguments;
use locks::Locks;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};
use testgen_contract::{Record, test_name};
use testgen_device::DeviceIndex;

/// What the checks of one process share.
#[derive(Debug)]
pub(crate) struct Suite {
    /// The directory that checkpoints are relative to.
    base: PathBuf,
    requirements: Requirements,
    devices: Devices,
    locks: Locks,
    report: Report,
    lists: Lists,
}

/// Who runs the suite, as far as it matters for tests that are not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    /// The runner shows what this process prints: a test says itself that it is ignored, and why.
    Reasons,
    /// cargo-nextest runs one process for each test and knows only exit codes: what cannot run carries the ignored flag,
    /// and fails when it is run all the same.
    Flags,
}

/// Runs the checks of `harnesses` as the command line says. Exit codes: 0 no failure, 101 a failure, 2 an environment
/// variable or argument that cannot be used.
///
/// `manifest_dir` is the suite's directory when it was built; `CARGO_MANIFEST_DIR` at run time goes before it.
pub fn main(harnesses: &[&'static Harness], manifest_dir: &str) -> ExitCode {
    let arguments = Arguments::from_args();
    let suite = match Suite::from_environment(harnesses, manifest_dir, arguments.list) {
        Ok(suite) => Arc::new(suite),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let tests = harnesses.iter().flat_map(|harness| harness.checks.iter().map(move |check| (*harness, *check)));
    let trials = tests.map(|(harness, registered)| trial::trial(&suite, harness, registered)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Makes one check as the suite does, with the checkpoint below `base`, and gives its record. It requires nothing, writes
/// nothing, and leaves it to the harness to find out what is absent.
pub fn record(harness: &Harness, registered: Registered, base: &Path) -> Record {
    trial::make(harness, registered, base, &Requirements::default(), DeviceIndex::Auto).0
}

impl Suite {
    fn from_environment(harnesses: &[&'static Harness], manifest_dir: &str, list: bool) -> Result<Self, String> {
        let requirements = Requirements::from_environment().map_err(|error| error.to_string())?;
        let made = |kind, check: &Registered| check.registration.device == kind && check.skip.is_none();
        let tested = |kind| harnesses.iter().any(|harness| harness.checks.iter().any(|check| made(kind, check)));
        if let Some(kind) = requirements.kinds().find(|kind| !tested(*kind)) {
            let variable = crate::require::REQUIRE_VARIABLE;
            return Err(format!("{variable} asks for {kind}, and no harness of this suite has checks there"));
        }
        let nextest = std::env::var_os("NEXTEST").is_some();
        Ok(Self {
            base: std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(manifest_dir), PathBuf::from),
            requirements,
            devices: Devices::new(Chosen::from_environment().map_err(|error| error.to_string())?),
            locks: Locks::default(),
            report: Report::from_environment().map_err(|error| error.to_string())?,
            lists: if nextest || list { Lists::Flags } else { Lists::Reasons },
        })
    }
}

/// The name of a check's test.
fn name_of(harness: &Harness, registered: Registered) -> String {
    let registration = registered.registration;
    let spec = harness.spec;
    test_name(spec.architecture, spec.name, registration.device, registration.check, registration.precision)
}
