//! The process of the suite that computes a failed call.

use super::error::ReplayError;
use crate::execution::run::{BuiltSuite, DeviceSelection, command_without_choices};
use std::{ffi::OsString, io, path::Path, process::Command, time::Duration};
use testgen_base::{
    child_process::{ChildError, is_interrupted},
    limited_output::{LimitedOutput, output_within},
    text::Quoted,
};
use testgen_operators::calls::{FailedCall, ReplayOutcome, Replayed};
use testgen_types::bounded_file::read_text;

/// Options of a replay.
#[derive(Debug)]
pub struct ReplayOptions {
    /// The device, or `None` for the kind on which the call failed.
    pub device: Option<DeviceSelection>,
    /// Variables of a simulated device.
    pub environment: Vec<(&'static str, OsString)>,
    /// Searches for a smaller call.
    pub reduce: bool,
    /// The longest time.
    pub limit: Duration,
}

/// Computes the call of `file`, which was read as `failed`, in a process of `suite`.
///
/// # Errors
///
/// When the call is not one of its operator, the device is missing, or the process ends without an
/// outcome.
pub fn compute(
    suite: &BuiltSuite,
    file: &Path,
    failed: &FailedCall,
    options: &ReplayOptions,
) -> Result<Replayed, ReplayError> {
    let folder = tempfile::tempdir().map_err(not_writable)?;
    let path = folder.path().join("outcome.json");
    // The suite runs in another directory.
    let file = std::path::absolute(file).map_err(not_writable)?;
    let command = command(suite, &file, &path, options);
    let output = output_within(command, options.limit);
    let output = output.map_err(|source| ReplayError::Start {
        binary: suite.binary.clone(),
        source,
    })?;
    // A process that ends early leaves no outcome, or a part of one.
    // The smaller call is in it, beside the recorded one.
    let outcome = read_text(&path, 2 * FailedCall::BYTES)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok());
    match outcome {
        Some(ReplayOutcome::Replayed(replayed)) => Ok(*replayed),
        Some(ReplayOutcome::Refused(problem)) => Err(ReplayError::Refused {
            path: file,
            problem,
        }),
        Some(ReplayOutcome::NoDevice(problem)) => {
            // A call that failed on a simulation needs one here, too.
            let simulated = failed.simulated && options.environment.is_empty();
            Err(ReplayError::NoDevice { problem, simulated })
        }
        None => Err(ended(&output, options.limit)),
    }
}

fn not_writable(source: io::Error) -> ReplayError {
    ReplayError::Write {
        path: std::env::temp_dir(),
        source,
    }
}

/// Computes the call of `file`, and writes the outcome to `outcome`.
fn command(suite: &BuiltSuite, file: &Path, outcome: &Path, options: &ReplayOptions) -> Command {
    let mut command = command_without_choices(suite);
    command.envs(
        options
            .environment
            .iter()
            .map(|(name, value)| (*name, value)),
    );
    command
        // The native engine alone computes calls again, whatever the user chose for runs.
        .env("TESTGEN_ENGINES", "native")
        .env("TESTGEN_REPLAY", file)
        .env("TESTGEN_REPLAY_OUTCOME", outcome);
    if let Some(device) = options.device {
        command.env("TESTGEN_REPLAY_DEVICE", device.kind.as_str());
        // Without an index the suite chooses the device of the kind.
        if let Some(index) = device.index {
            command.env("TESTGEN_DEVICE", format!("{}:{index}", device.kind));
        }
    }
    if options.reduce {
        command.env("TESTGEN_REPLAY_REDUCE", "1");
    }
    command
}

/// The error of a process that wrote no outcome.
fn ended(output: &LimitedOutput, limit: Duration) -> ReplayError {
    // Without a status the process was ended here: by the user, or by the limit.
    let Some(status) = output.status else {
        return if is_interrupted() {
            ChildError::Interrupted.into()
        } else {
            ReplayError::TimedOut { limit }
        };
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    // The last line, because a panic or a driver's message is written at the end.
    let last = errors
        .lines()
        // Programs print the cause of their end last.
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no output");
    ReplayError::Crashed {
        status: status.to_string(),
        message: Quoted(last).bare().to_string(),
    }
}
