//! One test: runs a check, writes its report entry, and returns its result to libtest.

use super::{
    environment::{Environment, IgnoredMode},
    limits::{OverLimit, too_large},
    room::MachineShare,
};
use crate::{
    check::{self, CheckContext, CheckEvidence, CheckOutcome, CheckStatus},
    harness::Harness,
    log::capture_log,
};
use libtest_mimic::{Completion, Failed, Trial};
use std::{
    path::{MAIN_SEPARATOR, Path},
    sync::Arc,
    time::Instant,
};
use testgen_engine::EngineName;
use testgen_types::{EntryStatus, Registration, ReportEntry, test_name, with_engine};

/// The test of one check.
pub(super) fn trial(
    environment: &Arc<Environment>,
    harness: &'static Harness,
    registration: Registration,
    engine: EngineName,
) -> Trial {
    // Evaluated only if the flag is read: it detects devices and reads the golden of every check.
    let flagged = environment.ignored_mode == IgnoredMode::InList
        && known_to_be_ignored(environment, harness, registration, &engine);
    let shared = Arc::clone(environment);
    let name = test_of(harness, registration, &engine);
    Trial::ignorable_test(name, move || {
        let (entry, log) = run_available(&shared, harness, registration, &engine);
        shared.report.append(&entry)?;
        completion(&shared, &entry, &log)
    })
    .with_ignored_flag(flagged)
}

/// The name of a check's test on an engine.
pub(super) fn test_of(
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> String {
    with_engine(
        name_of(harness, registration),
        engine.in_report().as_deref(),
    )
}

/// The name of a check's test.
pub(super) fn name_of(harness: &Harness, registration: Registration) -> String {
    let spec = harness.spec;
    test_name(
        spec.architecture,
        spec.name,
        registration.device,
        registration.check,
        registration.precision,
    )
}

/// Runs the check under its locks if its device is available. Returns the report entry and the log
/// lines of the run.
fn run_available(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> (ReportEntry, Vec<String>) {
    let started = Instant::now();
    let base = &environment.base;
    let context = environment.context(harness, registration.device, engine.clone());
    // Before the locks, so that a check that does not run waits for none.
    if let Some(status) = without_running(environment, harness, registration, engine) {
        let over = over_limit(environment, harness, registration, engine);
        let outcome = CheckOutcome {
            status,
            evidence: CheckEvidence {
                expected_milliseconds: over.map(|over| over.milliseconds),
                ..CheckEvidence::default()
            },
        };
        return (
            entry(harness, registration, &context, outcome, base, started),
            Vec::new(),
        );
    }
    let _held = environment.locks.hold(MachineShare::new(
        harness,
        base,
        registration,
        engine,
        &environment.devices,
    ));
    // Only shown while the suite runs, so that an error is not the check's.
    let name = test_of(harness, registration, engine);
    let _ = environment.started.append_line(&name);
    run(harness, registration, base, &context)
}

/// Runs the check on the device of `context`, whether it is available or not.
pub(super) fn run(
    harness: &Harness,
    registration: Registration,
    base: &Path,
    context: &CheckContext<'_>,
) -> (ReportEntry, Vec<String>) {
    // After waiting for the locks, so that the time covers the check alone.
    let started = Instant::now();
    let (outcome, log) = capture_log(|| check::run(registration, harness, context));
    (
        entry(harness, registration, context, outcome, base, started),
        log,
    )
}

/// The status of a check that does not run: the spec skips it, or its device is not available.
fn without_running(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> Option<CheckStatus> {
    // The reasons are in the order in which they hold: for every machine, for this call, for this
    // device.
    if let Some(reason) = harness.skip_reason(registration) {
        return Some(CheckStatus::Ignored {
            reason: format!("the spec skips it: {reason}"),
        });
    }
    if registration.check.is_on_request() && !environment.stress.is_requested() {
        let reason = "it takes minutes; `testgen run --stress` runs it".to_owned();
        return Some(CheckStatus::Ignored { reason });
    }
    if let Some(over) = over_limit(environment, harness, registration, engine) {
        return Some(CheckStatus::Ignored {
            reason: over.reason(),
        });
    }
    // The checks of fallbacks and mocks pass without the device: its absence is what they examine.
    if !registration.check.is_numeric() {
        return None;
    }
    let requirements = &environment.requirements;
    let device = registration.device;
    let unavailable = environment
        .devices
        .unavailable(harness.spec, device, engine, requirements);
    let (reason, required) = match unavailable {
        Some(unavailable) => (unavailable.reason, unavailable.required),
        // Only for a device that is there: the estimate reads the headers of the checkpoint.
        None => (
            too_large(environment, harness, registration, engine)?,
            requirements.on(device).is_some(),
        ),
    };
    Some(if required {
        CheckStatus::Fail { reason }
    } else {
        CheckStatus::Ignored { reason }
    })
}

fn over_limit(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> Option<OverLimit> {
    let test = test_of(harness, registration, engine);
    OverLimit::find(environment, harness, (test, registration.device))
}

/// Whether it is known without running that the check is ignored.
fn known_to_be_ignored(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
) -> bool {
    match without_running(environment, harness, registration, engine) {
        Some(CheckStatus::Ignored { .. }) => true,
        Some(CheckStatus::Pass { .. } | CheckStatus::Fail { .. }) => false,
        None => {
            let checkpoint = harness.spec.subject.checkpoint(&environment.base);
            checkpoint.is_some_and(|it| {
                check::inapplicable(registration.check, harness.spec.task, &it).is_some()
            })
        }
    }
}

fn entry(
    harness: &Harness,
    registration: Registration,
    context: &CheckContext<'_>,
    outcome: CheckOutcome,
    base: &Path,
    started: Instant,
) -> ReportEntry {
    let CheckOutcome { status, evidence } = outcome;
    let (status, reason) = match status {
        CheckStatus::Pass { summary } => (EntryStatus::Pass, summary),
        CheckStatus::Fail { reason } => (EntryStatus::Fail, Some(reason)),
        CheckStatus::Ignored { reason } => (EntryStatus::Ignored, Some(reason)),
    };
    ReportEntry {
        version: ReportEntry::VERSION,
        model: harness.spec.name.to_owned(),
        architecture: harness.spec.architecture,
        device: registration.device,
        device_index: context.index.chosen(),
        engine: context.engine.in_report(),
        engine_versions: evidence.engine.versions,
        check: registration.check,
        precision: registration.precision,
        status,
        reason: reason.map(|reason| relative_paths(&reason, base)),
        device_name: evidence.device_name,
        hardware: evidence.hardware,
        testgen: Some(env!("CARGO_PKG_VERSION").to_owned()),
        simulated: evidence.simulated,
        tf32: evidence.tf32,
        fallback: evidence.fallback,
        mock: evidence.mock,
        panicked: evidence.panicked,
        kernels: evidence.kernels,
        matrix_unit: evidence.matrix_unit,
        outputs: evidence.outputs,
        layers: evidence.layers,
        providers: evidence.engine.providers,
        memory: evidence.memory,
        expected_milliseconds: evidence.expected_milliseconds,
        milliseconds: started.elapsed().as_secs_f64() * 1e3,
    }
}

/// `text` with paths relative to the suite's directory: reports are read on other machines.
fn relative_paths(text: &str, base: &Path) -> String {
    text.replace(&format!("{}{MAIN_SEPARATOR}", base.display()), "")
}

/// The result for libtest.
fn completion(
    environment: &Environment,
    entry: &ReportEntry,
    log: &[String],
) -> Result<Completion, Failed> {
    let reason = entry.reason.as_deref().unwrap_or("no reason was given");
    match entry.status {
        EntryStatus::Pass => Ok(Completion::Completed),
        EntryStatus::Fail => Err(failure(entry, reason, log).into()),
        EntryStatus::Ignored if environment.ignored_mode == IgnoredMode::AtRun => {
            Ok(Completion::ignored_with(reason))
        }
        // Where only the exit code counts, an ignored check must not exit like a passed one.
        EntryStatus::Ignored => {
            Err(format!("ignored, which this runner would count as a pass: {reason}").into())
        }
    }
}

/// The reason, the device, the worst elements, and the log lines.
fn failure(entry: &ReportEntry, reason: &str, log: &[String]) -> String {
    let mut lines = vec![reason.to_owned()];
    if let Some(device) = &entry.device_name {
        let simulated = if entry.simulated { ", simulated" } else { "" };
        lines.push(format!("on {} `{device}`{simulated}", entry.device));
    }
    for output in entry
        .outputs
        .iter()
        .filter(|output| !output.worst.is_empty())
        .take(8)
    {
        lines.push(format!("`{}`, largest errors:", output.name));
        lines.extend(output.worst.iter().map(|worst| {
            format!(
                "  {:?} expected {}, got {}",
                worst.index, worst.expected, worst.got
            )
        }));
    }
    lines.extend(log.iter().map(|line| format!("log: {line}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::relative_paths;
    use std::path::Path;

    #[test]
    fn paths_in_a_report_are_relative_to_the_suite() {
        let text = "cannot read `/home/me/suite/../fixtures/bert/config.json`, `/home/me/suited` and `/opt/rocm` are there";
        assert_eq!(
            relative_paths(text, Path::new("/home/me/suite")),
            "cannot read `../fixtures/bert/config.json`, `/home/me/suited` and `/opt/rocm` are there"
        );
    }
}
