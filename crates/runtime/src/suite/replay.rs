//! `TESTGEN_REPLAY`: one failed call computed again, instead of checks, and made smaller where that
//! is requested.
//!
//! The command line starts the test binary for it and reads the outcome from a file, so that
//! whatever a library prints does not matter.

#[cfg(feature = "executor")]
mod computation;
mod request;

use super::environment::Environment;
use request::ReplayRequest;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use testgen_operators::calls::{FailedCall, ReplayOutcome};

/// The variable with the file of the failed call.
const FILE_VARIABLE: &str = "TESTGEN_REPLAY";
/// The variable with the file for the outcome.
const OUTCOME_VARIABLE: &str = "TESTGEN_REPLAY_OUTCOME";
/// The variable with the kind of device; without it the kind in the file.
const DEVICE_VARIABLE: &str = "TESTGEN_REPLAY_DEVICE";
/// The variable that requests a smaller call.
const REDUCE_VARIABLE: &str = "TESTGEN_REPLAY_REDUCE";

/// Computes what the variables request, or `None` without them. Exit codes: 0 the outcome was
/// written, 101 it was not.
pub(super) fn run(environment: &Environment) -> Option<ExitCode> {
    let file = PathBuf::from(std::env::var_os(FILE_VARIABLE)?);
    let outcome = match request(&file) {
        Ok(request) => outcome(request, environment),
        Err(problem) => ReplayOutcome::Refused(problem),
    };
    Some(match write(&outcome) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            // As a test binary that fails.
            ExitCode::from(101)
        }
    })
}

fn request(file: &Path) -> Result<ReplayRequest, String> {
    let failed = FailedCall::read(file).map_err(|error| error.to_string())?;
    let device = match std::env::var(DEVICE_VARIABLE) {
        Ok(kind) => kind
            .parse()
            .map_err(|error| format!("{DEVICE_VARIABLE}: {error}"))?,
        Err(_) => failed.device,
    };
    Ok(ReplayRequest {
        failed,
        device,
        reduce: std::env::var_os(REDUCE_VARIABLE).is_some(),
    })
}

#[cfg(feature = "executor")]
fn outcome(request: ReplayRequest, environment: &Environment) -> ReplayOutcome {
    computation::compute(request, environment)
}

#[cfg(not(feature = "executor"))]
fn outcome(request: ReplayRequest, _environment: &Environment) -> ReplayOutcome {
    let ReplayRequest {
        failed,
        device,
        reduce,
    } = request;
    let asked = if reduce { "made smaller" } else { "computed" };
    let reason = "this build of the suite has no operators of the native engine";
    ReplayOutcome::Refused(format!(
        "{} cannot be {asked} on {device}: {reason}",
        failed.case
    ))
}

fn write(outcome: &ReplayOutcome) -> Result<(), String> {
    let path = std::env::var_os(OUTCOME_VARIABLE).map(PathBuf::from);
    let path = path.ok_or_else(|| {
        format!("{FILE_VARIABLE} needs {OUTCOME_VARIABLE}, a file for the outcome")
    })?;
    let json = serde_json::to_vec(outcome).map_err(|error| error.to_string())?;
    std::fs::write(&path, json)
        .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}
