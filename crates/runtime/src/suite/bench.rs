//! `TESTGEN_BENCH`: the selected subjects are timed instead of checked.

use super::{environment::Environment, precompile};
use crate::{bench, check::CheckContext, harness::Harness};
use std::process::ExitCode;
use testgen_engine::EngineName;
use testgen_types::{BenchEntry, BenchHost, BenchRequest, Check, Registration};

/// Measures what the variable requests, one after another, or `None` without it. Exit codes: 0
/// every entry was written, 101 the request cannot be read, or the report cannot be written.
pub(super) fn run(harnesses: &[&'static Harness], environment: &Environment) -> Option<ExitCode> {
    let request = std::env::var(BenchRequest::VARIABLE).ok()?;
    let measured = serde_json::from_str(&request)
        .map_err(|error| format!("{}: {error}", BenchRequest::VARIABLE))
        .and_then(|request| measure_all(harnesses, environment, &request));
    Some(match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(101)
        }
    })
}

fn measure_all(
    harnesses: &[&'static Harness],
    environment: &Environment,
    request: &BenchRequest,
) -> Result<(), String> {
    // Before the first measurement, whose load is this process's own.
    let host = bench::host();
    // Nothing else runs, so an engine has all processors, as the native one has.
    testgen_engine::share_processors(1);
    // Otherwise the warm-up compiles every kernel of a GPU, one after another.
    precompile::run(environment, harnesses, |harness, registration| {
        registrations(harness, request).contains(&registration)
    });
    for harness in harnesses {
        for registration in registrations(harness, request) {
            for engine in &environment.engines {
                let work = (request, &host);
                for entry in measured(environment, harness, registration, engine, work) {
                    let written = environment.report.append_line(&entry);
                    written.map_err(|error| error.to_string())?;
                }
            }
        }
    }
    Ok(())
}

/// The checks of the whole output that the request selects: one for each device and precision.
fn registrations(harness: &Harness, request: &BenchRequest) -> Vec<Registration> {
    let spec = harness.spec;
    let mut registrations = harness.required();
    registrations.retain(|registration| {
        let subject = format!(
            "{}::{}::{}",
            spec.architecture, spec.name, registration.device
        );
        // Only these two compare the whole output, which has to agree before it is timed.
        matches!(registration.check, Check::OutputGolden | Check::Forward)
            && request.subjects.contains(&subject)
            && (request.precisions.is_empty()
                || request.precisions.contains(&registration.precision))
    });
    registrations
}

fn measured(
    environment: &Environment,
    harness: &Harness,
    registration: Registration,
    engine: &EngineName,
    work: (&BenchRequest, &BenchHost),
) -> Vec<BenchEntry> {
    let context = CheckContext {
        checkpoint: harness.spec.subject.checkpoint(&environment.base),
        requirements: &environment.requirements,
        index: environment.devices.index(registration.device),
        engine: engine.clone(),
    };
    let skipped = harness
        .skip_reason(registration)
        .map(|reason| format!("the spec skips it: {reason}"));
    let unavailable = || {
        let devices = &environment.devices;
        let (spec, requirements) = (harness.spec, &environment.requirements);
        let found = devices.unavailable(spec, registration.device, engine, requirements)?;
        Some(found.reason)
    };
    // A skip of the spec first: it holds on every machine, an absent device only here.
    match skipped.or_else(unavailable) {
        Some(reason) => vec![bench::unavailable(
            harness,
            registration,
            &context,
            work,
            reason,
        )],
        None => bench::measure(harness, registration, &context, work),
    }
}
