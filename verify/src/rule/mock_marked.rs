//! When opening, choosing a precision or loading fails, the endpoint is a mock of this device, with that error.
//!
//! ```text
//! Err(error) => Endpoint::mock(&target.label, DeviceKind::Rocm, &error),
//! ```
//!
//! A mock says of itself that it is one and why, so that no check can pass on it. It bears the function's own device and
//! the error that came from the step that failed. A mock on any other way would hide a device that works.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, device_value, of_target, payload},
    reader::{Call, Callee, Outcome},
};

/// Looks at every way through every init function.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    harness.journeys().filter(|journey| !journey.is_absent()).flat_map(|journey| one(&journey)).collect()
}

fn one(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let mocks: Vec<_> = journey.way.runtime("Endpoint::mock").map(|(_, call)| call).collect();
    match journey.failed() {
        Some((step, failed)) => failed_remark(journey, step, failed).into_iter().collect(),
        None => mocks.into_iter().map(|mock| stray(journey, mock)).collect(),
    }
}

fn failed_remark(journey: &Journey<'_, '_>, step: usize, failed: &Call<'_>) -> Option<Remark> {
    let (function, name) = (journey.function(), failed.callee.name());
    let variant = journey.device.variant_name();
    let help = format!("return `Endpoint::mock(&target.label, DeviceKind::{variant}, &error)`");
    let at = |message: String| Some(Remark::span(journey.way.end(), message, help.as_str()));
    let is_mock = |call: &&Call<'_>| call.callee == Callee::Runtime("Endpoint::mock".to_owned());
    let Some(mock) = journey.way.call_of(&journey.way.result).filter(is_mock) else {
        return at(format!("`{function}` does not return a mock when `{name}` fails"));
    };
    match mock.arguments.as_slice() {
        [label, _, _] if *label != of_target("label") => {
            at(format!("the mock of `{function}` does not bear the label asked for"))
        }
        [_, device, _] if *device != device_value(journey.device) => {
            at(format!("the mock of `{function}` is marked with another device: `{device}`"))
        }
        [_, _, error] if *error == payload(Outcome::Err, step) => None,
        _ => at(format!("the mock of `{function}` does not carry the error of `{name}`")),
    }
}

fn stray(journey: &Journey<'_, '_>, mock: &Call<'_>) -> Remark {
    let message = format!("`{}` makes a mock although nothing has failed", journey.function());
    Remark::span(mock.span(), message, "make a mock on the `Err` of `open`, `choose` or `load` alone")
}
