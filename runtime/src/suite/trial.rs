//! One test: from a registered check to a record, and to what libtest is told.

use super::{Lists, Suite, name_of};
use crate::{
    Harness, Registered,
    check::{self, Context, Evidence, Outcome, Verdict},
    narration,
    require::Requirements,
};
use libtest_mimic::{Completion, Failed, Trial};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{MAIN_SEPARATOR, Path},
    sync::Arc,
    time::Instant,
};
use testgen_contract::{Record, RecordStatus};
use testgen_device::DeviceIndex;

/// The test of one registered check.
pub(super) fn trial(suite: &Arc<Suite>, harness: &'static Harness, registered: Registered) -> Trial {
    let flagged = suite.lists == Lists::Flags && known_to_be_ignored(suite, harness, registered);
    let shared = Arc::clone(suite);
    let run = move || {
        let (record, said) = examine(&shared, harness, registered);
        shared.report.append(&record)?;
        tell(&shared, &record, &said)
    };
    Trial::ignorable_test(name_of(harness, registered), run).with_ignored_flag(flagged)
}

/// Makes the check, if its device is there, under its locks; gives the record, and what the harness said meanwhile.
fn examine(suite: &Suite, harness: &Harness, registered: Registered) -> (Record, Vec<String>) {
    let started = Instant::now();
    if let Some(verdict) = without_running(suite, harness, registered) {
        let outcome = Outcome { verdict, evidence: Evidence::default() };
        return (record(harness, registered, outcome, &suite.base, started), Vec::new());
    }
    let _held = suite.locks.hold(registered.registration.check, registered.registration.device);
    let index = suite.devices.index(registered.registration.device);
    make(harness, registered, &suite.base, &suite.requirements, index)
}

/// Makes the check on the device of its kind that `index` names, whatever is there.
pub(super) fn make(
    harness: &Harness,
    registered: Registered,
    base: &Path,
    requirements: &Requirements,
    index: DeviceIndex,
) -> (Record, Vec<String>) {
    let started = Instant::now();
    let checkpoint = harness.spec.source.checkpoint(base);
    let context = Context { checkpoint, requirements, index };
    let (outcome, said) = narration::keeping(|| guarded(|| check::run(registered.registration, harness, &context)));
    (record(harness, registered, outcome, base, started), said)
}

/// The verdict on a check that is not made: the spec skips it, or its device is not there.
fn without_running(suite: &Suite, harness: &Harness, registered: Registered) -> Option<Verdict> {
    if let Some(reason) = registered.skip {
        return Some(Verdict::Ignored { reason: format!("the spec skips it: {reason}") });
    }
    let registration = registered.registration;
    if !registration.check.is_numeric() {
        return None;
    }
    let unavailable = suite.devices.unavailable(harness.spec, registration.device, &suite.requirements)?;
    let reason = unavailable.reason;
    Some(if unavailable.required { Verdict::Fail { reason } } else { Verdict::Ignored { reason } })
}

/// Whether a listing can already say that the check is not made.
fn known_to_be_ignored(suite: &Suite, harness: &Harness, registered: Registered) -> bool {
    match without_running(suite, harness, registered) {
        Some(Verdict::Ignored { .. }) => true,
        Some(Verdict::Pass { .. } | Verdict::Fail { .. }) => false,
        None => {
            let checkpoint = harness.spec.source.checkpoint(&suite.base);
            check::inapplicable(registered.registration.check, &checkpoint).is_some()
        }
    }
}

/// A panic is a failure with its message.
fn guarded(work: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let reason = format!("the check panicked: {}", message(payload.as_ref()));
        Outcome { verdict: Verdict::Fail { reason }, evidence: Evidence::default() }
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

fn record(harness: &Harness, registered: Registered, outcome: Outcome, base: &Path, started: Instant) -> Record {
    let Evidence { device_name, hardware, simulated, tf32, fallback, mock, memory, outputs } = outcome.evidence;
    let (status, reason) = match outcome.verdict {
        Verdict::Pass { note } => (RecordStatus::Pass, note),
        Verdict::Fail { reason } => (RecordStatus::Fail, Some(reason)),
        Verdict::Ignored { reason } => (RecordStatus::Ignored, Some(reason)),
    };
    let registration = registered.registration;
    Record {
        version: Record::VERSION,
        model: harness.spec.name.to_owned(),
        architecture: harness.spec.architecture,
        device: registration.device,
        check: registration.check,
        precision: registration.precision,
        status,
        reason: reason.map(|reason| from_the_suite(&reason, base)),
        device_name,
        hardware,
        testgen: Some(env!("CARGO_PKG_VERSION").to_owned()),
        simulated,
        tf32,
        fallback,
        mock,
        outputs,
        memory,
        milliseconds: started.elapsed().as_secs_f64() * 1e3,
    }
}

/// `text` with paths as they are from the suite's directory: a record is read on other machines.
fn from_the_suite(text: &str, base: &Path) -> String {
    text.replace(&format!("{}{MAIN_SEPARATOR}", base.display()), "")
}

/// What libtest is told. Where only the exit code counts, an ignored check must not end with that of a pass.
fn tell(suite: &Suite, record: &Record, said: &[String]) -> Result<Completion, Failed> {
    let reason = record.reason.as_deref().unwrap_or("no reason was given");
    match record.status {
        RecordStatus::Pass => Ok(Completion::Completed),
        RecordStatus::Fail => Err(failure(record, reason, said).into()),
        RecordStatus::Ignored if suite.lists == Lists::Reasons => Ok(Completion::ignored_with(reason)),
        RecordStatus::Ignored => Err(format!("ignored, and this runner would take it for a pass: {reason}").into()),
    }
}

/// The reason, the device, the worst elements, and what was said on the way.
fn failure(record: &Record, reason: &str, said: &[String]) -> String {
    let mut lines = vec![reason.to_owned()];
    if let Some(device) = &record.device_name {
        let simulated = if record.simulated { ", simulated" } else { "" };
        lines.push(format!("on {} `{device}`{simulated}", record.device));
    }
    for output in record.outputs.iter().filter(|output| !output.worst.is_empty()).take(8) {
        lines.push(format!("`{}`, furthest off:", output.name));
        lines.extend(
            output
                .worst
                .iter()
                .map(|worst| format!("  {:?} expected {}, got {}", worst.index, worst.expected, worst.got)),
        );
    }
    lines.extend(said.iter().map(|said| format!("said: {said}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::from_the_suite;
    use std::path::Path;

    #[test]
    fn a_record_names_paths_from_the_suite() {
        let text =
            "cannot read `/home/me/suite/../fixtures/bert/config.json`, `/home/me/suited` and `/opt/rocm` are there";
        assert_eq!(
            from_the_suite(text, Path::new("/home/me/suite")),
            "cannot read `../fixtures/bert/config.json`, `/home/me/suited` and `/opt/rocm` are there"
        );
    }
}
