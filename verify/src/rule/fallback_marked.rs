//! Without its device, a GPU's init function returns `init_cpu`, under a CPU label, marked as
//! fallback with the reason.
//!
//! ```text
//! Err(unavailable) => {
//!     return init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::Rocm, &unavailable);
//! }
//! ```
//!
//! The absence contains the error of every detection that failed (`hip.and(cuda)` joins the two of
//! ROCm), so that the report shows the reason of both. No other path calls `init_cpu` or another
//! device's init function: results of the host processor must never appear under a GPU's name, and
//! a present device that fails to open is a mock, not a fallback. `init_cpu` has no fallback.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, TARGET, device_value, payload},
    reader::{BranchOutcome, Callee, RecordedCall, Value},
};
use testgen_types::DeviceKind;

/// Checks every path through every init function.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let diagnostics = harness.init_paths().flat_map(|init_path| {
        match (init_path.is_absent(), init_path.found()) {
            (true, _) => absent(&init_path),
            (false, Some(_)) => stray(&init_path),
            // Neither a device nor its absence was detected: `detection_paths` reports that.
            (false, None) => Vec::new(),
        }
    });
    diagnostics.collect()
}

/// A path on which the device is absent.
fn absent(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let (function, device) = (init_path.function(), init_path.device);
    let help = format!(
        "return `init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(DeviceKind::{}, &unavailable)`",
        device.variant_name()
    );
    let Some(marked) = init_path
        .code_path
        .call_of(&init_path.code_path.result)
        .filter(|call| is_method(call, "into_fallback"))
    else {
        return vec![init_path.diagnostic(
            format!("`{function}` does not return a fallback when its device is absent"),
            &help,
        )];
    };
    let [endpoint, from, absence] = marked.arguments.as_slice() else {
        return vec![init_path.diagnostic(
            "`into_fallback` does not receive a device and an absence".to_owned(),
            &help,
        )];
    };
    if *from != device_value(device) {
        return vec![init_path.diagnostic(
            format!("the fallback of `{function}` is marked with another device: `{from}`"),
            &help,
        )];
    }
    // A single reason would hide why the other path does not have the device.
    if !is_whole_absence(init_path, absence) {
        return vec![init_path.diagnostic(
            format!("the fallback of `{function}` does not contain the error of each detection"),
            &help,
        )];
    }
    let Some(init) = init_path
        .code_path
        .call_of(endpoint)
        .filter(|call| call.callee == Callee::Local("init_cpu".to_owned()))
    else {
        return vec![init_path.diagnostic(
            format!("the fallback of `{function}` does not come from `init_cpu`"),
            &help,
        )];
    };
    match init.arguments.as_slice() {
        // Only then, because a wrong fallback is the more important finding.
        [target] if is_cpu_target(init_path, target) => extra_inits(init_path),
        _ => {
            let message = format!(
                "the fallback of `{function}` does not load its own target on the host processor"
            );
            vec![init_path.diagnostic(message, &help)]
        }
    }
}

/// `target.on(DeviceKind::Cpu)`
fn is_cpu_target(init_path: &InitPath<'_, '_>, target: &Value<'_>) -> bool {
    let expected = [TARGET, device_value(DeviceKind::Cpu)];
    init_path
        .code_path
        .call_of(target)
        .is_some_and(|call| is_method(call, "on") && call.arguments == expected)
}

/// Whether `absence` joins the errors of all failed detections, and nothing else.
fn is_whole_absence(init_path: &InitPath<'_, '_>, absence: &Value<'_>) -> bool {
    let mut joined = Vec::new();
    parts(init_path, absence, &mut joined);
    let detections = init_path.detections();
    // As many as there are detections, so that an error is not joined twice in place of another.
    joined.len() == detections.len()
        && detections
            .iter()
            .all(|(step, _)| joined.contains(&payload(BranchOutcome::Err, *step)))
}

fn parts<'a>(init_path: &InitPath<'_, 'a>, absence: &Value<'a>, joined: &mut Vec<Value<'a>>) {
    match init_path.code_path.call_of(absence) {
        Some(call) if is_method(call, "and") => {
            call.arguments
                .iter()
                .for_each(|argument| parts(init_path, argument, joined));
        }
        _ => joined.push(absence.clone()),
    }
}

/// Calls of init functions in addition to the returned one.
fn extra_inits(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    // The first call is the returned one, which the caller has compared.
    let calls = inits(init_path).skip(1);
    let help = "call `init_cpu` once, and return it";
    calls
        .map(|call| Diagnostic::span(call.span(), "a second endpoint is made and dropped", help))
        .collect()
}

/// A path that must not fall back.
fn stray(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let function = init_path.function();
    let marks = init_path
        .code_path
        .calls()
        .map(|(_, call)| call)
        .filter(|call| is_method(call, "into_fallback"));
    let calls = inits(init_path).chain(marks);
    let diagnostics = calls.map(|call| {
        let message = format!(
            "`{function}` falls back although its detection has not failed: `{}`",
            call.callee.name()
        );
        Diagnostic::span(
            call.span(),
            message,
            "fall back on the `Err` of the detection alone",
        )
    });
    diagnostics.collect()
}

fn inits<'w, 'a>(
    init_path: &InitPath<'w, 'a>,
) -> impl Iterator<Item = &'w RecordedCall<'a>> + use<'w, 'a> {
    let code_path = init_path.code_path;
    code_path
        .calls()
        .map(|(_, call)| call)
        // Helpers are interpreted in place, so only entry points remain as calls of the file.
        .filter(|call| matches!(&call.callee, Callee::Local(name) if name.starts_with("init_")))
}

fn is_method(call: &RecordedCall<'_>, name: &str) -> bool {
    matches!(&call.callee, Callee::Method(found) if found == name)
}
