//! Without its device, a GPU's init function returns `init_cpu`, under a CPU label, marked as fallback with the reason.
//!
//! ```text
//! Err(unavailable) => {
//!     return init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::Rocm, &unavailable);
//! }
//! ```
//!
//! The absence is that of every detection that failed (`hip.and(cuda)` joins the two of ROCm), so that the report says why by
//! either path. No other way calls `init_cpu` or another device's init function: results of the host processor must never stand under a GPU's name, and a
//! device that is there and does not open is a mock, not a fallback. `init_cpu` has nothing to fall back to.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, TARGET, device_value, payload},
    reader::{Call, Callee, Outcome, Value},
};
use testgen_types::DeviceKind;

/// Looks at every way through every init function.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let remarks = harness.journeys().flat_map(|journey| match (journey.is_absent(), journey.found()) {
        (true, _) => absent(&journey),
        (false, Some(_)) => stray(&journey),
        // Nothing was detected, nor its absence: `detection_paths` has found that.
        (false, None) => Vec::new(),
    });
    remarks.collect()
}

/// A way on which the device is not there.
fn absent(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let (function, device) = (journey.function(), journey.device);
    let help = format!(
        "return `init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::{}, &unavailable)`",
        device.variant_name()
    );
    let at = |message: String| vec![Remark::span(journey.way.end(), message, help.as_str())];
    let Some(marked) = journey.way.call_of(&journey.way.result).filter(|call| is_method(call, "into_fallback")) else {
        return at(format!("`{function}` does not return a fallback when its device is absent"));
    };
    let [endpoint, from, absence] = marked.arguments.as_slice() else {
        return at("`into_fallback` does not get a device and an absence".to_owned());
    };
    if *from != device_value(device) {
        return at(format!("the fallback of `{function}` is marked with another device: `{from}`"));
    }
    if !is_whole_absence(journey, absence) {
        return at(format!("the fallback of `{function}` does not say why each detection failed"));
    }
    let local = |call: &&Call<'_>| call.callee == Callee::Local("init_cpu".to_owned());
    let Some(init) = journey.way.call_of(endpoint).filter(local) else {
        return at(format!("the fallback of `{function}` does not come from `init_cpu`"));
    };
    match init.arguments.as_slice() {
        [target] if is_cpu_target(journey, target) => extra_inits(journey),
        _ => at(format!("the fallback of `{function}` does not load its own target on the host processor")),
    }
}

/// `target.on(DeviceKind::Cpu)`
fn is_cpu_target(journey: &Journey<'_, '_>, target: &Value<'_>) -> bool {
    let expected = [TARGET, device_value(DeviceKind::Cpu)];
    journey.way.call_of(target).is_some_and(|call| is_method(call, "on") && call.arguments == expected)
}

/// Whether `absence` joins what every failed detection gave, and nothing else.
fn is_whole_absence(journey: &Journey<'_, '_>, absence: &Value<'_>) -> bool {
    let mut joined = Vec::new();
    parts(journey, absence, &mut joined);
    let detections = journey.detections();
    joined.len() == detections.len()
        && detections.iter().all(|(step, _)| joined.contains(&payload(Outcome::Err, *step)))
}

fn parts<'a>(journey: &Journey<'_, 'a>, absence: &Value<'a>, joined: &mut Vec<Value<'a>>) {
    match journey.way.call_of(absence) {
        Some(call) if is_method(call, "and") => {
            call.arguments.iter().for_each(|argument| parts(journey, argument, joined));
        }
        _ => joined.push(absence.clone()),
    }
}

/// Calls of init functions beside the one that is returned.
fn extra_inits(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let calls = inits(journey).skip(1);
    let help = "call `init_cpu` once, and return it";
    calls.map(|call| Remark::span(call.span(), "a second endpoint is made and dropped", help)).collect()
}

/// A way on which nobody may fall back.
fn stray(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let function = journey.function();
    let marks = journey.way.calls().map(|(_, call)| call).filter(|call| is_method(call, "into_fallback"));
    let calls = inits(journey).chain(marks);
    let remarks = calls.map(|call| {
        let message =
            format!("`{function}` falls back although its detection has not failed: `{}`", call.callee.name());
        Remark::span(call.span(), message, "fall back on the `Err` of the detection alone")
    });
    remarks.collect()
}

fn inits<'w, 'a>(journey: &Journey<'w, 'a>) -> impl Iterator<Item = &'w Call<'a>> + use<'w, 'a> {
    let way = journey.way;
    way.calls()
        .map(|(_, call)| call)
        .filter(|call| matches!(&call.callee, Callee::Local(name) if name.starts_with("init_")))
}

fn is_method(call: &Call<'_>, name: &str) -> bool {
    matches!(&call.callee, Callee::Method(found) if found == name)
}
