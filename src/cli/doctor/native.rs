//! The native engine: the checks of the suite's test binary that open a device and probe its
//! arithmetic.
//!
//! Before its first check on a device, the suite compares the answer of its first kernel there;
//! `half_probe` then computes sums, products, casts and matrix products in half precision and
//! compares them with f64. testgen itself does not link burn.

use crate::{
    execution::run::{BuiltSuite, REPORT, command_without_choices, find_built},
    results::read::read_lines,
};
use std::{path::Path, process::Command, time::Duration};
use testgen_base::limited_output::{LimitedOutput, output_within};
use testgen_device::{Device, DeviceKind, EngineKind};
use testgen_doctor::{ComputationOutcome, EngineAnswer, EngineComputation, KnownOperation};
use testgen_types::{EntryStatus, ReportEntry};

const NAME: &str = "native";

/// The checks that are run, the first one that the suite has.
// The second one is for a suite in f32 only.
const CHECKS: [&str; 2] = ["half_probe", "placement"];

/// Computes on each device with the suite of `manifest`; one run of it may take `limit`.
pub(super) fn compute(
    devices: &[&Device],
    manifest: &Path,
    limit: Duration,
) -> Vec<EngineComputation> {
    let Some(suite) = find_built(manifest) else {
        let why = format!("no suite is built from `{}`", manifest.display());
        let fix = "testgen run".to_owned();
        let outcome = ComputationOutcome::NotInstalled { why, fix };
        return vec![EngineComputation {
            engine: NAME.to_owned(),
            device: None,
            kind: DeviceKind::Cpu,
            simulated: false,
            outcome,
        }];
    };
    // What burn cannot use is a line about the device.
    let usable = devices
        .iter()
        .filter(|device| device.unusable_by(EngineKind::Native).is_none());
    usable
        .map(|device| EngineComputation {
            engine: NAME.to_owned(),
            device: Some(device.label()),
            kind: device.kind,
            simulated: device.simulated,
            outcome: on_device(&suite, device, limit)
                .unwrap_or_else(|why| ComputationOutcome::Failed { why }),
        })
        .collect()
}

/// The test binary with the device.
fn prepared(suite: &BuiltSuite, device: &Device) -> Command {
    let mut command = command_without_choices(suite);
    // The suite refuses an index of the processor, which has no parts to select.
    if device.kind != DeviceKind::Cpu {
        command.env("TESTGEN_DEVICE", device.label());
    }
    // Whatever the user's environment names: other engines have lines of their processes.
    command.env("TESTGEN_ENGINES", NAME);
    command
}

fn on_device(
    suite: &BuiltSuite,
    device: &Device,
    limit: Duration,
) -> Result<ComputationOutcome, String> {
    let Some(filter) = filter(&listed(suite, device, limit)?, device.kind) else {
        let why = format!("the suite has no check on {} that probes it", device.kind);
        return Ok(ComputationOutcome::Unsupported { why });
    };
    let report = tempfile::NamedTempFile::new()
        .map_err(|error| format!("cannot write a temporary file: {error}"))?;
    let mut run = prepared(suite, device);
    run.arg(&filter).env(REPORT, report.path());
    let output = output(run, limit)?;
    let entries = read_lines(report.path())
        .map_err(|error| error.to_string())?
        .entries;
    let failure = output
        .failure()
        .map(|failure| format!("the test binary {failure}"));
    if entries.is_empty() {
        return Err(failure.unwrap_or_else(|| format!("`{filter}` wrote no report")));
    }
    let mut operations: Vec<KnownOperation> = entries.iter().map(operation).collect();
    // With an entry, a failed check is the reason of its exit code. Without a code, a check has
    // none, because the process crashed or did not end in it.
    if output.status.and_then(|status| status.code()).is_none() {
        operations.extend(failure.map(|failure| KnownOperation {
            name: filter,
            answer: EngineAnswer::Failed(failure),
        }));
    }
    Ok(ComputationOutcome::Computed {
        with: suite.binary.display().to_string(),
        operations,
    })
}

/// The tests that the suite has on the device, as its test binary lists them.
fn listed(suite: &BuiltSuite, device: &Device, limit: Duration) -> Result<String, String> {
    let mut list = prepared(suite, device);
    list.args(["--list", "--format", "terse"]);
    let list = output(list, limit)?;
    if let Some(failure) = list.failure() {
        return Err(format!("the test binary {failure}"));
    }
    Ok(String::from_utf8_lossy(&list.stdout).into_owned())
}

fn output(command: Command, limit: Duration) -> Result<LimitedOutput, String> {
    output_within(command, limit)
        .map_err(|error| format!("the test binary does not start: {error}"))
}

/// A part of the names of the first model's checks: `encoder_only::bert::rocm::half_probe`.
fn filter(listed: &str, kind: DeviceKind) -> Option<String> {
    let mut names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    // Every diagnosis takes the same model, whatever the order of the list.
    names.sort_unstable();
    CHECKS.iter().find_map(|check| {
        let part = format!("::{kind}::{check}");
        let name = names.iter().find(|name| name.contains(&part))?;
        name.find(&part)
            .map(|start| name[..start + part.len()].to_owned())
    })
}

fn operation(entry: &ReportEntry) -> KnownOperation {
    let reason = entry.reason.clone().unwrap_or_default();
    let answer = match entry.status {
        EntryStatus::Fail => EngineAnswer::Wrong(reason),
        EntryStatus::Ignored => EngineAnswer::None(reason),
        // Neither computes on the device.
        EntryStatus::Pass if entry.fallback || entry.mock => {
            EngineAnswer::Failed("the endpoint is not on the device".to_owned())
        }
        EntryStatus::Pass if reason.is_empty() => EngineAnswer::Right("passed".to_owned()),
        EntryStatus::Pass => EngineAnswer::Right(reason),
    };
    KnownOperation {
        name: entry.test_name(),
        answer,
    }
}

#[cfg(test)]
mod tests {
    use super::filter;
    use testgen_device::DeviceKind;

    #[test]
    fn the_first_model_with_a_probe_is_chosen() {
        let listed = "vision::vit::cpu::half_probe_f16: test\nencoder_only::bert::cpu::placement_f32: test\n\
                      encoder_only::roberta::rocm::placement_f32: test\nnot a test\n";
        assert_eq!(
            filter(listed, DeviceKind::Cpu).as_deref(),
            Some("vision::vit::cpu::half_probe")
        );
        assert_eq!(
            filter(listed, DeviceKind::Rocm).as_deref(),
            Some("encoder_only::roberta::rocm::placement")
        );
        assert_eq!(filter(listed, DeviceKind::Cuda), None);
    }
}
