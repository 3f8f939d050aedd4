//! `fallback_marked`: a device that is absent gives an endpoint marked as fallback, with the reason.
//!
//! It asks for a device index that no machine has, so it proves the same with and without a GPU.

use super::{Examination, Failures, Found};
use crate::{DeviceRequest, Status};
use testgen_contract::DeviceKind;
use testgen_device::DeviceIndex;

/// The index of a device that is never there.
pub(super) const ABSENT: DeviceIndex = DeviceIndex::Index(9999);

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let kind = exam.registration.device;
    let name = exam.spec().name;
    let request = DeviceRequest { index: ABSENT, precision: Some(exam.registration.precision) };
    let asked = format!("{name}-{kind}");
    let endpoint = exam.harness.init(kind)(&exam.context.checkpoint, &request, &asked);
    let mut failures = Failures::default();
    let found = match endpoint.status() {
        Status::Fallback { from, to, why } => {
            if (*from, *to) != (kind, DeviceKind::Cpu) {
                failures.push(format!("the fallback is from {from} to {to}, expected from {kind} to cpu"));
            }
            if why.trim().is_empty() {
                failures.push("the fallback gives no reason");
            }
            why.clone()
        }
        other => {
            failures.push(format!("{kind}:9999 is never there, and the endpoint is {other}"));
            String::new()
        }
    };
    if endpoint.model().is_some() {
        failures.push("the fallback hands out its model as if it were the device's");
    }
    let expected = asked.replace(kind.as_str(), DeviceKind::Cpu.as_str());
    if endpoint.label() != expected {
        failures.push(format!("the label is `{}`, expected `{expected}`", endpoint.label()));
    }
    if endpoint.device().map(|device| device.kind) != Some(DeviceKind::Cpu) {
        failures.push(format!("the fallback runs on {:?}", endpoint.device().map(|device| device.label())));
    }
    exam.note_facts(&endpoint);
    failures.conclude()?;
    Ok(Some(format!("marked as fallback: {found}")))
}
