//! The model is loaded on the open device, in the precision that this device's own probe allows.
//!
//! `probe_half_precision(&device)` computes in half precision on the device that was opened; `report_probe(&target.label, &probe)`
//! reports it; `probe.choose(target.precision, SPEC.precisions)` picks the precision from what it found, and its `Ok` is what
//! `load(&SPEC, &target.checkpoint, &device, precision)` gets. A precision from elsewhere would test a type that the device may not
//! compute, or another one than the report names. The rule follows the values, so names do not matter.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, of_target, payload},
    reader::{Call, Outcome, Value},
};
use std::rc::Rc;

/// Looks at every way on which a device was opened.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    Remark::once(harness.journeys().filter_map(|journey| one(&journey)).collect())
}

fn one(journey: &Journey<'_, '_>) -> Option<Remark> {
    let Some(device) = journey.opened() else { return unopened(journey) };
    let function = journey.function();
    let end = |message: String, help: &str| Some(Remark::span(journey.way.end(), message, help));
    let probes: Vec<_> = journey.way.runtime("probe_half_precision").collect();
    let [(probe, call)] = probes.as_slice() else {
        let help = "call `probe_half_precision(&device)` once, after `open`";
        return end(format!("a way through `{function}` does not probe its device once"), help);
    };
    if call.arguments != [device.clone()] {
        let message = format!("`{function}` probes another device than the one it opened");
        return Some(Remark::span(call.span(), message, "probe the open device"));
    }
    let reported = [of_target("label"), Value::Called(*probe)];
    if !journey.way.runtime("report_probe").any(|(_, call)| call.arguments == reported) {
        return end(
            format!("a way through `{function}` does not report its probe"),
            "call `report_probe(&target.label, &probe)`",
        );
    }
    chosen(journey, Value::Called(*probe)).or_else(|| loaded(journey, device))
}

/// A model that is loaded where no device was opened.
fn unopened(journey: &Journey<'_, '_>) -> Option<Remark> {
    let (_, load) = journey.load().filter(|_| journey.open().is_none())?;
    let message = format!("`{}` loads the model on no open device", journey.function());
    Some(Remark::span(load.span(), message, "open the device first"))
}

fn chosen<'a>(journey: &Journey<'_, 'a>, probe: Value<'a>) -> Option<Remark> {
    let help = "write `probe.choose(target.precision, SPEC.precisions)` and match its result";
    let Some((step, call)) = journey.choose() else {
        let message = format!("a way through `{}` chooses no precision by its probe", journey.function());
        return Some(Remark::span(journey.way.end(), message, help));
    };
    let offered = Value::Field(Rc::new(Value::Local("SPEC".to_owned())), "precisions".to_owned());
    if call.arguments != [probe, of_target("precision"), offered] {
        let message = format!("`{}` chooses its precision from something else", journey.function());
        return Some(Remark::span(call.span(), message, help));
    }
    let message = "nobody looks at the precision that was chosen";
    journey.way.outcome(step).is_none().then(|| Remark::span(call.span(), message, help))
}

fn loaded<'a>(journey: &Journey<'_, 'a>, device: Value<'a>) -> Option<Remark> {
    let (choose, _) = journey.choose()?;
    let chosen = journey.way.outcome(choose) == Some(Outcome::Ok);
    let loads: Vec<_> = journey.way.runtime("load").collect();
    match (loads.as_slice(), chosen) {
        ([], false) => None,
        ([], true) => {
            let message = format!("a way through `{}` ends without loading the model", journey.function());
            Some(Remark::span(journey.way.end(), message, "call `load(&SPEC, &target.checkpoint, &device, precision)`"))
        }
        ([(step, call)], true) => load_remark(journey, *step, call, device, choose),
        ([(_, call), ..], _) => {
            let message =
                format!("`{}` loads the model in a precision that was not chosen, or twice", journey.function());
            Some(Remark::span(call.span(), message, "load once, with the `Ok` of `choose`"))
        }
    }
}

fn load_remark<'a>(
    journey: &Journey<'_, 'a>,
    step: usize,
    call: &Call<'a>,
    device: Value<'a>,
    choose: usize,
) -> Option<Remark> {
    let expected = [Value::Local("SPEC".to_owned()), of_target("checkpoint"), device, payload(Outcome::Ok, choose)];
    let names = ["spec", "checkpoint", "open device", "chosen precision"];
    let help = "write `load(&SPEC, &target.checkpoint, &device, precision)` and match its result";
    let wrong = names.iter().enumerate().find(|(position, _)| call.arguments.get(*position) != expected.get(*position));
    if let Some((_, name)) = wrong {
        let message = format!("`load` in `{}` does not get the {name}", journey.function());
        return Some(Remark::span(call.span(), message, help));
    }
    let message = "nobody looks at the result of `load`";
    journey.way.outcome(step).is_none().then(|| Remark::span(call.span(), message, help))
}
