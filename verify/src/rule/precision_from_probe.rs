//! The model is loaded on the opened device, in the precision that this device's own probe allows.
//!
//! `probe_half_precision(&device)` computes in half precision on the opened device;
//! `report_probe(&target.label, &probe)` reports the result;
//! `probe.choose(target.precision, SPEC.precisions)` chooses the precision from it, and its `Ok` is
//! the precision that `load(&SPEC, &target.checkpoint, &device, precision)` receives. A precision
//! from elsewhere would test a type that the device may not compute, or another one than the report
//! names. The rule follows the values, so names do not matter.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, of_target, payload},
    reader::{BranchOutcome, RecordedCall, Value},
};
use std::rc::Rc;

/// Checks every path on which a device was opened.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    Diagnostic::once(
        harness
            .init_paths()
            .filter_map(|init_path| one(&init_path))
            .collect(),
    )
}

fn one(init_path: &InitPath<'_, '_>) -> Option<Diagnostic> {
    // Without an open device there is nothing that could be probed.
    let Some(device) = init_path.opened() else {
        return unopened(init_path);
    };
    let function = init_path.function();
    let probes: Vec<_> = init_path
        .code_path
        .runtime("probe_half_precision")
        .collect();
    // Exactly one: of two results, the report could show the other one.
    let [(probe, call)] = probes.as_slice() else {
        let help = "call `probe_half_precision(&device)` once, after `target.open`";
        return Some(init_path.diagnostic(
            format!("a path through `{function}` does not probe its device once"),
            help,
        ));
    };
    if call.arguments != [device.clone()] {
        let message = format!("`{function}` probes another device than the opened one");
        return Some(Diagnostic::span(
            call.span(),
            message,
            "probe the open device",
        ));
    }
    let reported = [of_target("label"), Value::Called(*probe)];
    if !init_path
        .code_path
        .runtime("report_probe")
        .any(|(_, call)| call.arguments == reported)
    {
        return Some(init_path.diagnostic(
            format!("a path through `{function}` does not report its probe"),
            "call `report_probe(&target.label, &probe)`",
        ));
    }
    // The choice first, because a load is compared with it.
    chosen(init_path, Value::Called(*probe)).or_else(|| loaded(init_path, device))
}

/// A model that is loaded although no device was opened.
fn unopened(init_path: &InitPath<'_, '_>) -> Option<Diagnostic> {
    // A path that called `open` is checked by `detection_paths` and `mock_marked`.
    let (_, load) = init_path.load().filter(|_| init_path.open().is_none())?;
    let message = format!(
        "`{}` loads the model without an open device",
        init_path.function()
    );
    Some(Diagnostic::span(
        load.span(),
        message,
        "open the device first",
    ))
}

fn chosen<'a>(init_path: &InitPath<'_, 'a>, probe: Value<'a>) -> Option<Diagnostic> {
    let help = "write `probe.choose(target.precision, SPEC.precisions)` and match its result";
    let Some((step, call)) = init_path.choose() else {
        let message = format!(
            "a path through `{}` does not choose its precision by its probe",
            init_path.function()
        );
        return Some(init_path.diagnostic(message, help));
    };
    let offered = Value::Field(
        Rc::new(Value::Local("SPEC".to_owned())),
        "precisions".to_owned(),
    );
    if call.arguments != [probe, of_target("precision"), offered] {
        let message = format!(
            "`{}` chooses its precision from something else",
            init_path.function()
        );
        return Some(Diagnostic::span(call.span(), message, help));
    }
    let message = "the chosen precision is not used";
    init_path
        .code_path
        .outcome(step)
        .is_none()
        .then(|| Diagnostic::span(call.span(), message, help))
}

fn loaded<'a>(init_path: &InitPath<'_, 'a>, device: Value<'a>) -> Option<Diagnostic> {
    let (choose, _) = init_path.choose()?;
    let chosen = init_path.code_path.outcome(choose) == Some(BranchOutcome::Ok);
    let loads: Vec<_> = init_path.code_path.runtime("load").collect();
    match (loads.as_slice(), chosen) {
        // A precision that was refused leads to a mock, which has no model.
        ([], false) => None,
        ([], true) => {
            let message = format!(
                "a path through `{}` ends without loading the model",
                init_path.function()
            );
            Some(Diagnostic::span(
                init_path.code_path.end(),
                message,
                "call `load(&SPEC, &target.checkpoint, &device, precision)`",
            ))
        }
        ([(step, call)], true) => load_diagnostic(init_path, *step, call, device, choose),
        ([(_, call), ..], _) => {
            let message = format!(
                "`{}` loads the model in a precision that was not chosen, or twice",
                init_path.function()
            );
            Some(Diagnostic::span(
                call.span(),
                message,
                "load once, with the `Ok` of `choose`",
            ))
        }
    }
}

fn load_diagnostic<'a>(
    init_path: &InitPath<'_, 'a>,
    step: usize,
    call: &RecordedCall<'a>,
    device: Value<'a>,
    choose: usize,
) -> Option<Diagnostic> {
    let expected = [
        Value::Local("SPEC".to_owned()),
        of_target("checkpoint"),
        device,
        payload(BranchOutcome::Ok, choose),
    ];
    let names = ["spec", "checkpoint", "open device", "chosen precision"];
    let help = "write `load(&SPEC, &target.checkpoint, &device, precision)` and match its result";
    let wrong = names
        .iter()
        .enumerate()
        // The first that is wrong: later ones often follow from it.
        .find(|(position, _)| call.arguments.get(*position) != expected.get(*position));
    if let Some((_, name)) = wrong {
        let message = format!(
            "`load` in `{}` does not receive the {name}",
            init_path.function()
        );
        return Some(Diagnostic::span(call.span(), message, help));
    }
    let message = "the result of `load` is not used";
    init_path
        .code_path
        .outcome(step)
        .is_none()
        .then(|| Diagnostic::span(call.span(), message, help))
}
