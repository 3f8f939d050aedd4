//! The state that the checks of one process share: devices, locks and the report, configured by
//! environment variables.

use super::{device_selection::SelectedDevices, devices::SuiteDevices, engines, locks::Locks};
use crate::{
    check::CheckContext,
    earlier_times::EarlierTimes,
    harness::Harness,
    report::{REPORT_VARIABLE, Report, STARTED_VARIABLE},
    require::{REQUIRE_VARIABLE, RequiredDevices},
    stress_request::StressRequest,
};
use std::path::PathBuf;
use testgen_engine::EngineName;
use testgen_types::DeviceKind;

/// The state that the checks of one process share.
#[derive(Debug)]
pub(super) struct Environment {
    /// The directory that checkpoints are relative to.
    pub(super) base: PathBuf,
    pub(super) requirements: RequiredDevices,
    pub(super) devices: SuiteDevices,
    pub(super) locks: Locks,
    pub(super) report: Report,
    /// The names of checks that started.
    pub(super) started: Report,
    /// The expected times of checks.
    pub(super) earlier: EarlierTimes,
    pub(super) ignored_mode: IgnoredMode,
    /// At least one.
    pub(super) engines: Vec<EngineName>,
    pub(super) stress: StressRequest,
}

/// How ignored tests are reported to the test runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IgnoredMode {
    /// When the test runs, with the reason: libtest prints both.
    AtRun,
    /// In the list of tests, by the ignored flag.
    // cargo-nextest runs a process per test and only sees its exit code, so a test without the flag
    // can only pass or fail.
    InList,
}

impl Environment {
    /// The environment of the checks of a harness on a device.
    pub(super) fn context(
        &self,
        harness: &Harness,
        device: DeviceKind,
        engine: EngineName,
    ) -> CheckContext<'_> {
        CheckContext {
            checkpoint: harness.spec.subject.checkpoint(&self.base),
            requirements: &self.requirements,
            index: self.devices.index(device),
            engine,
        }
    }

    /// Reads the environment variables of a suite; `list` if tests are only listed.
    pub(super) fn read(
        harnesses: &[&'static Harness],
        manifest_dir: &str,
        list: bool,
    ) -> Result<Self, String> {
        let requirements =
            RequiredDevices::from_environment().map_err(|error| error.to_string())?;
        // Such a requirement would be met without running anything.
        if let Some(kind) = requirements
            .kinds()
            .find(|kind| !harnesses.iter().any(|harness| runs_on(harness, *kind)))
        {
            return Err(format!(
                "{REQUIRE_VARIABLE} asks for {kind}, and no harness of this suite has checks there"
            ));
        }
        // cargo-nextest sets this variable for every test.
        let nextest = std::env::var_os("NEXTEST").is_some();
        Ok(Self {
            // At run time it is the directory of the suite on this machine; `manifest_dir` is the
            // directory in which the binary was built, possibly on another machine.
            base: std::env::var_os("CARGO_MANIFEST_DIR")
                .map_or_else(|| PathBuf::from(manifest_dir), PathBuf::from),
            requirements,
            devices: SuiteDevices::new(
                SelectedDevices::from_environment().map_err(|error| error.to_string())?,
            ),
            locks: Locks::default(),
            report: named(REPORT_VARIABLE)?,
            started: named(STARTED_VARIABLE)?,
            earlier: EarlierTimes::from_environment(),
            engines: engines::from_environment()?,
            stress: StressRequest::from_environment()?,
            ignored_mode: if nextest || list {
                IgnoredMode::InList
            } else {
                IgnoredMode::AtRun
            },
        })
    }
}

fn named(variable: &str) -> Result<Report, String> {
    Report::from_environment(variable).map_err(|error| error.to_string())
}

/// Whether the harness has a check on `kind` that is not skipped.
fn runs_on(harness: &Harness, kind: DeviceKind) -> bool {
    let required = harness.required();
    required
        .into_iter()
        .any(|check| check.device == kind && harness.skip_reason(check).is_none())
}
