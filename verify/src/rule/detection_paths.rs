//! Each init function opens the device that its own detection found, and `init_rocm` detects by two
//! paths.
//!
//! | function | calls | and opens |
//! |---|---|---|
//! | `init_cpu` | `host_processor()` | the result |
//! | `init_cuda` | `cuda_driver(target)` | the payload of `Ok` |
//! | `init_rocm` | `hip_runtime(target)`, and on its `Err` `cuda_compatibility(target)` | the payload of either `Ok` |
//!
//! This holds on every path through the function: an AMD GPU that only the CUDA compatibility layer
//! sees must not lead to the fallback, the requested index and engine are used, and the opened
//! device is never a constant and never another device's. A detection whose result is not matched
//! does not count. The target is passed on and the device is opened by `target.open`, because the
//! target has the engine; the result of `open` must be matched, too.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, TARGET, detectors},
    reader::{BranchOutcome, RecordedCall, Value},
};
use testgen_types::DeviceKind;

/// Checks every path through every init function.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let diagnostics = harness.init_paths().flat_map(|init_path| {
        [
            foreign_detections(&init_path),
            own_detections(&init_path),
            opened(&init_path),
        ]
        .concat()
    });
    Diagnostic::once(diagnostics.collect())
}

/// Detections of other devices.
fn foreign_detections(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let own = detectors(init_path.device);
    let others = DeviceKind::ALL
        .iter()
        .flat_map(|&device| detectors(device))
        // The list of all devices has the function's own device, too.
        .filter(|name| !own.contains(name));
    let calls = others.flat_map(|name| {
        init_path
            .code_path
            .runtime(name)
            .map(move |(_, call)| (name, call))
    });
    let diagnostics = calls.map(|(name, call)| {
        let message = format!(
            "`{}` calls `{name}`, which detects another kind of device",
            init_path.function()
        );
        Diagnostic::span(call.span(), message, format!("ask {}", list(own)))
    });
    diagnostics.collect()
}

/// The function's own detections: each is called in order, once, with the target.
fn own_detections(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut turn = true;
    for name in detectors(init_path.device) {
        let calls: Vec<_> = init_path.code_path.runtime(name).collect();
        match calls.as_slice() {
            // Only if it was this detection's turn: after a success the next one must not be
            // called.
            [] if turn => diagnostics.push(not_called(init_path, name)),
            [] => {}
            [(step, call), rest @ ..] => {
                diagnostics.extend(call_diagnostic(init_path, name, *step, call, turn));
                let twice = rest.iter().map(|(_, call)| {
                    let message = format!(
                        "`{name}` is called twice on one path through `{}`",
                        init_path.function()
                    );
                    Diagnostic::span(call.span(), message, "call it once, and match its result")
                });
                diagnostics.extend(twice);
            }
        }
        // The next detection is due only where this one was called and failed.
        turn &= calls.first().is_some_and(|(step, _)| {
            init_path.code_path.outcome(*step) == Some(BranchOutcome::Err)
        });
    }
    diagnostics
}

fn not_called(init_path: &InitPath<'_, '_>, name: &str) -> Diagnostic {
    let message = format!(
        "a path through `{}` ends here without calling `{name}`",
        init_path.function()
    );
    let help = match name {
        "cuda_compatibility" => {
            "on the `Err` of `hip_runtime`, call `cuda_compatibility(target)`".to_owned()
        }
        _ => format!("begin with `{name}` and match its result"),
    };
    init_path.diagnostic(message, help)
}

fn call_diagnostic(
    init_path: &InitPath<'_, '_>,
    name: &str,
    step: usize,
    call: &RecordedCall<'_>,
    turn: bool,
) -> Option<Diagnostic> {
    let at = |message: String, help: &str| Some(Diagnostic::span(call.span(), message, help));
    if !turn {
        return at(
            format!("`{name}` is called before `hip_runtime` has failed"),
            "call it on the `Err` of `hip_runtime`",
        );
    }
    // The host processor is always there: its function has neither a target nor a result to match.
    if init_path.device == DeviceKind::Cpu {
        return None;
    }
    if call.arguments != [TARGET] {
        let help =
            "pass `target`, so that the requested device is found for the engine that computes";
        return at(format!("`{name}` does not receive the target"), help);
    }
    // A result that is never matched could be an absence.
    let ignored = init_path.code_path.outcome(step).is_none();
    ignored.then(|| {
        at(
            format!("the result of `{name}` is not used"),
            "match its `Ok` and its `Err`",
        )
    })?
}

/// The opened device is the detected one.
fn opened(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let opens: Vec<_> = init_path.opens().collect();
    let asked = !init_path.detections().is_empty();
    match (opens.as_slice(), init_path.found()) {
        // Nothing was detected, as on the path to the fallback, so nothing has to be opened.
        ([], None) => Vec::new(),
        ([], Some(_)) => {
            let message = format!(
                "a path through `{}` has detected its device and does not open it",
                init_path.function()
            );
            vec![Diagnostic::span(
                init_path.code_path.end(),
                message,
                "pass it to `target.open`",
            )]
        }
        ([(step, call)], found) => opened_once(init_path, *step, call, found, asked)
            .into_iter()
            .collect(),
        ([_, (_, second), ..], _) => {
            let message = format!(
                "a path through `{}` opens two devices",
                init_path.function()
            );
            vec![Diagnostic::span(
                second.span(),
                message,
                "open the detected device, once",
            )]
        }
    }
}

fn opened_once(
    init_path: &InitPath<'_, '_>,
    step: usize,
    call: &RecordedCall<'_>,
    found: Option<Value<'_>>,
    asked: bool,
) -> Option<Diagnostic> {
    let from = list(detectors(init_path.device));
    // If detections were called, their own finding says more.
    if found.is_none() && !asked {
        let message = format!(
            "`{}` opens a device that was not detected",
            init_path.function()
        );
        return Some(Diagnostic::span(
            call.span(),
            message,
            format!("open the device that {from} detected"),
        ));
    }
    if call.arguments.first() != Some(&TARGET) {
        let message = format!(
            "`{}` opens its device by something else than its target",
            init_path.function()
        );
        return Some(Diagnostic::span(
            call.span(),
            message,
            "write `target.open(device)`",
        ));
    }
    // Compared as lists, so that a missing or an additional argument is a difference, too.
    if found.as_slice() != &call.arguments[1..] {
        let message = format!(
            "`{}` opens another device than the detected one",
            init_path.function()
        );
        return Some(Diagnostic::span(
            call.span(),
            message,
            format!("open the device that {from} detected"),
        ));
    }
    let message = "the result of `target.open` is not used";
    let help = "match it, and return `Endpoint::mock` on `Err`";
    init_path
        .code_path
        .outcome(step)
        .is_none()
        .then(|| Diagnostic::span(call.span(), message, help))
}

fn list(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", then ")
}
