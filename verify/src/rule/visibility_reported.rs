//! The GPU functions read the visible-device variables and report them, on every way.
//!
//! `ROCR_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES` and `CUDA_VISIBLE_DEVICES` hide devices; a report of an absent device that
//! does not show them sends its reader looking for a broken driver. `init_cuda` and `init_rocm` call `visible_devices()`
//! and pass its value to `report_visibility(label, ..)`, also on the way to the fallback.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, of_target},
    reader::Value,
};
use testgen_types::DeviceKind;

/// Looks at every way through the init functions of the GPUs.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let gpus = harness.journeys().filter(|journey| journey.device != DeviceKind::Cpu);
    Remark::once(gpus.filter_map(|journey| one(&journey)).collect())
}

fn one(journey: &Journey<'_, '_>) -> Option<Remark> {
    let function = journey.function();
    let help = "begin with `report_visibility(&target.label, &visible_devices());`";
    let Some((read, call)) = journey.way.runtime("visible_devices").next() else {
        let message = format!("a way through `{function}` does not read the visible-device variables");
        return Some(Remark::span(journey.way.end(), message, help));
    };
    let expected = [of_target("label"), Value::Called(read)];
    if journey.way.runtime("report_visibility").any(|(_, call)| call.arguments == expected) {
        return None;
    }
    let message = format!("a way through `{function}` reads the visible-device variables and does not report them");
    Some(Remark::span(call.span(), message, help))
}
