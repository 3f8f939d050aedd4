//! The steps around a run of the suite, for every command that runs it: write it, verify it,
//! simulate devices, keep what it wrote.

use crate::{
    execution::run::{Execution, RunError, Simulation, keep_reports, last_lines},
    generate::{SpecFilter, write_suite},
    settings::Settings,
    verification::{render_human, verify_suite},
};
use std::{ffi::OsString, path::Path, process::ExitStatus};
use testgen_base::{cli_error::Error, progress::RunProgress, text::Count};

/// Writes the whole suite, and verifies it. Findings are printed to stderr.
pub(super) fn write_verified(
    settings: &Settings,
    progress: &mut RunProgress,
) -> Result<bool, Error> {
    progress.stage("generating", &settings.out.display().to_string());
    let changes = write_suite(settings, &SpecFilter::default(), &|_| {})?;
    let result = match changes.files.len() {
        0 => format!("{}, up to date", Count(changes.plan.harnesses, "model")),
        count => format!(
            "{}, {} changed",
            Count(changes.plan.harnesses, "model"),
            Count(count, "file")
        ),
    };
    progress.end("generated", &result);
    progress.stage("verifying", &settings.out.display().to_string());
    let verification = verify_suite(settings)?;
    progress.end(
        "verified",
        &format!(
            "{}, {}",
            Count(verification.files, "file"),
            Count(verification.count(), "finding")
        ),
    );
    if !verification.is_clean() {
        // On stderr, because stdout has the result of the suite alone.
        eprint!("{}", render_human(&verification));
    }
    // A suite that does not cover what it claims must not run, because its green result would be
    // meaningless.
    Ok(verification.is_clean())
}

/// Prepares the simulated devices, if there are any, and returns the variables by which a suite
/// finds them.
pub(super) fn simulated_devices(
    simulation: Option<&Simulation>,
    settings: &Settings,
    progress: &mut RunProgress,
) -> Result<Vec<(&'static str, OsString)>, RunError> {
    match simulation {
        Some(simulation) => simulation.prepare(settings, progress),
        None => Ok(Vec::new()),
    }
}

/// Keeps the reports of processes that wrote lines as long as they ran. Returns the problem of the
/// first process that ended early, and prints the end of the output of each such process.
pub(super) fn keep_lines(
    executions: Vec<Execution>,
    report: &Path,
) -> Result<Option<String>, Error> {
    let statuses: Vec<ExitStatus> = executions.iter().map(|each| each.status).collect();
    let logs = keep_reports(executions, report)?;
    let mut problem = None;
    for (status, log) in statuses.iter().zip(&logs) {
        if !status.success() {
            show_end(log);
            problem.get_or_insert(format!("the suite ended before it was done ({status})"));
        }
    }
    Ok(problem)
}

/// Prints the end of the output of a suite that crashed.
pub(super) fn show_end(log: &Path) {
    if let Ok(lines) = last_lines(log) {
        eprintln!("{lines}");
    }
}
