//! Each init function opens the device that its own detection found, and `init_rocm` has two ways of detection.
//!
//! | function | asks | and opens |
//! |---|---|---|
//! | `init_cpu` | `host_processor()` | what it gave |
//! | `init_cuda` | `cuda_driver(target.index)` | what its `Ok` holds |
//! | `init_rocm` | `hip_runtime(target.index)`, and on its `Err` `cuda_compatibility(target.index)` | what the `Ok` of either holds |
//!
//! This holds on every way through the function: an AMD GPU that only the CUDA compatibility layer sees must not end in
//! the fallback, the index asked for is honoured, and the device that is opened is never a constant and never another
//! device's. A detection whose result nobody looks at has not been made. The result of `open` is looked at, too.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, detectors, of_target},
    reader::{Call, Outcome, Value},
};
use testgen_types::DeviceKind;

/// Looks at every way through every init function.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let remarks =
        harness.journeys().flat_map(|journey| [strangers(&journey), asked(&journey), opened(&journey)].concat());
    Remark::once(remarks.collect())
}

/// Detections of other devices.
fn strangers(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let own = detectors(journey.device);
    let others = DeviceKind::ALL.iter().flat_map(|&device| detectors(device)).filter(|name| !own.contains(name));
    let calls = others.flat_map(|name| journey.way.runtime(name).map(move |(_, call)| (name, call)));
    let remarks = calls.map(|(name, call)| {
        let message = format!("`{}` asks `{name}`, which finds another kind of device", journey.function());
        Remark::span(call.span(), message, format!("ask {}", list(own)))
    });
    remarks.collect()
}

/// The own detections: each is asked in its turn, once, with the index asked for.
fn asked(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut turn = true;
    for name in detectors(journey.device) {
        let calls: Vec<_> = journey.way.runtime(name).collect();
        match calls.as_slice() {
            [] if turn => remarks.push(not_asked(journey, name)),
            [] => {}
            [(step, call), rest @ ..] => {
                remarks.extend(call_remark(journey, name, *step, call, turn));
                let twice = rest.iter().map(|(_, call)| {
                    let message = format!("`{name}` is asked twice on one way through `{}`", journey.function());
                    Remark::span(call.span(), message, "ask once, and look at the answer")
                });
                remarks.extend(twice);
            }
        }
        turn &= calls.first().is_some_and(|(step, _)| journey.way.outcome(*step) == Some(Outcome::Err));
    }
    remarks
}

fn not_asked(journey: &Journey<'_, '_>, name: &str) -> Remark {
    let message = format!("a way through `{}` ends here and never asks `{name}`", journey.function());
    let help = match name {
        "cuda_compatibility" => "on the `Err` of `hip_runtime`, ask `cuda_compatibility(target.index)`".to_owned(),
        _ => format!("begin with `{name}` and look at its answer"),
    };
    Remark::span(journey.way.end(), message, help)
}

fn call_remark(journey: &Journey<'_, '_>, name: &str, step: usize, call: &Call<'_>, turn: bool) -> Option<Remark> {
    let at = |message: String, help: &str| Some(Remark::span(call.span(), message, help));
    if !turn {
        return at(
            format!("`{name}` is asked before `hip_runtime` has failed"),
            "ask it on the `Err` of `hip_runtime`",
        );
    }
    if journey.device == DeviceKind::Cpu {
        return None;
    }
    if call.arguments != [of_target("index")] {
        let help = "pass `target.index`, so that the device asked for is the one that is tested";
        return at(format!("`{name}` does not get the index asked for"), help);
    }
    let ignored = journey.way.outcome(step).is_none();
    ignored.then(|| at(format!("nobody looks at the answer of `{name}`"), "match its `Ok` and its `Err`"))?
}

/// The device that is opened is the one that was found.
fn opened(journey: &Journey<'_, '_>) -> Vec<Remark> {
    let opens: Vec<_> = journey.way.runtime("open").collect();
    let asked = !journey.detections().is_empty();
    match (opens.as_slice(), journey.found()) {
        ([], None) => Vec::new(),
        ([], Some(_)) => {
            let message = format!("a way through `{}` has found its device and does not open it", journey.function());
            vec![Remark::span(journey.way.end(), message, "pass it to `open`")]
        }
        ([(step, call)], found) => opened_once(journey, *step, call, found, asked).into_iter().collect(),
        ([_, (_, second), ..], _) => {
            let message = format!("a way through `{}` opens two devices", journey.function());
            vec![Remark::span(second.span(), message, "open the device that was found, once")]
        }
    }
}

fn opened_once(
    journey: &Journey<'_, '_>,
    step: usize,
    call: &Call<'_>,
    found: Option<Value<'_>>,
    asked: bool,
) -> Option<Remark> {
    let from = list(detectors(journey.device));
    if found.is_none() && !asked {
        let message = format!("`{}` opens a device that nothing has detected", journey.function());
        return Some(Remark::span(call.span(), message, format!("open what {from} found")));
    }
    if found.as_ref().map(std::slice::from_ref) != Some(call.arguments.as_slice()) {
        let message = format!("`{}` opens another device than the one it has found", journey.function());
        return Some(Remark::span(call.span(), message, format!("open what {from} found")));
    }
    let message = "nobody looks at the result of `open`";
    let help = "match it, and return `Endpoint::mock` on `Err`";
    journey.way.outcome(step).is_none().then(|| Remark::span(call.span(), message, help))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", then ")
}
