//! `require_honoured`: `TESTGEN_REQUIRE` turns an absent device, and with it a fallback, into a
//! failure. A mock always fails.
//!
//! It runs the beginning of every check of numbers on a device that does not exist, and with a
//! checkpoint that does not exist, with and without the requirement, and examines the status.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    fallback_marked::ABSENT,
    run::{CheckContext, CheckResult, CheckRun, CheckStatus, Failures},
};
use crate::require::RequiredDevices;
use testgen_models::Checkpoint;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::FallbackNotMarked,
    "a fallback is marked as real",
    "expected ignored",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let kind = run.registration.device;
    let free = RequiredDevices::default();
    let required = RequiredDevices::for_kind(kind);
    let here = &run.context.checkpoint;
    let missing = Some(run.context.missing_checkpoint());
    let mut failures = Failures::default();
    let mut unsupported = None;
    let mut status = |checkpoint: &Option<Checkpoint>, requirements: &RequiredDevices| {
        let context = CheckContext {
            checkpoint: checkpoint.clone(),
            requirements,
            index: ABSENT,
            ..run.context.clone()
        };
        // A separate run: its fallbacks and mocks are expected, and must not mark this check's
        // report.
        let mut nested = CheckRun::new(run.registration, run.harness, &context);
        // A clone shares its processes, so that four runs do not start four engines.
        nested.engine = run.engine.clone();
        let status = nested.outcome(load).status;
        unsupported = nested.unsupported.or(unsupported.take());
        status
    };
    let ignored = status(here, &free);
    if !matches!(&ignored, CheckStatus::Ignored { reason } if !reason.is_empty()) {
        failures.push(format!(
            "without a requirement an absent {kind} is {ignored:?}, expected ignored with a reason"
        ));
    }
    let absent = status(here, &required);
    let reason = match &absent {
        CheckStatus::Fail { reason } if reason.contains(&format!("TESTGEN_REQUIRE={kind}")) => {
            reason.clone()
        }
        _ => {
            failures.push(format!(
                "with TESTGEN_REQUIRE={kind} an absent {kind} is {absent:?}, expected a failure"
            ));
            String::new()
        }
    };
    // With and without the requirement, because a mock is never an absent device.
    for requirements in [&required, &free] {
        let mock = status(&missing, requirements);
        if !matches!(mock, CheckStatus::Fail { .. }) {
            failures.push(format!("a mock is {mock:?}, expected a failure"));
        }
    }
    // Kept for the report: without a feature the engine has a mock here for that reason.
    run.unsupported = unsupported;
    failures.conclude()?;
    Ok(Some(reason))
}

/// The beginning of every check of numbers.
fn load(run: &mut CheckRun<'_>) -> CheckResult {
    run.subject_under_test()?;
    Ok(None)
}
