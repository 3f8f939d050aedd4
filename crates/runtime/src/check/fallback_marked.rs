//! `fallback_marked`: the endpoint of an absent device is marked as a fallback, with the reason.
//!
//! It requests a device index that no machine has, so it proves the same with and without a GPU.

use super::run::{CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::{endpoint::Status, label::Label, load_target::LoadTarget};
use testgen_device::DeviceIndex;
use testgen_types::DeviceKind;

/// The index of a device that no machine has.
pub(super) const ABSENT: DeviceIndex = DeviceIndex::Index(9999);

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::FallbackNotMarked,
    "a fallback is marked as real",
    "but the endpoint is real",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let kind = run.registration.device;
    let target = LoadTarget {
        checkpoint: run.context.checkpoint.clone(),
        // An absent index and not an absent driver, so that a machine with the device proves the
        // same.
        index: ABSENT,
        precision: Some(run.registration.precision),
        label: Label::new(run.spec().name, kind),
        engine: run.engine.clone(),
    };
    let endpoint = run.harness.init(kind)(&target);
    let mut failures = Failures::default();
    let found = match endpoint.status() {
        Status::Fallback { from, to, why } => {
            if (*from, *to) != (kind, DeviceKind::Cpu) {
                failures.push(format!(
                    "the fallback is from {from} to {to}, expected from {kind} to cpu"
                ));
            }
            // A reader has only the reason to find out why the device was not used.
            if why.trim().is_empty() {
                failures.push("the fallback has no reason");
            }
            why.clone()
        }
        other => {
            failures.push(format!(
                "{kind}:9999 does not exist, but the endpoint is {other}"
            ));
            String::new()
        }
    };
    // A check of numbers takes its model from here: with one, it would pass on the CPU in the name
    // of the device.
    if endpoint.loaded().is_some() {
        failures.push("the fallback returns its model as if it were on the device");
    }
    let expected = target.label.on(DeviceKind::Cpu);
    if *endpoint.label() != expected {
        failures.push(format!(
            "the label is `{}`, expected `{expected}`",
            endpoint.label()
        ));
    }
    if endpoint.device().map(|device| device.kind) != Some(DeviceKind::Cpu) {
        failures.push(format!(
            "the fallback runs on {:?}",
            endpoint.device().map(|device| device.label())
        ));
    }
    run.collect_evidence(&endpoint);
    failures.conclude()?;
    Ok(Some(format!("marked as fallback: {found}")))
}
