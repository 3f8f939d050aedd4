//! When opening, choosing a precision or loading fails, the endpoint is a mock of this device, with
//! that error.
//!
//! ```text
//! Err(error) => Endpoint::mock(&target.label, DeviceKind::Rocm, &error),
//! ```
//!
//! A mock is marked as such, with the reason, so that no check can pass on it. It has the
//! function's own device and the error of the step that failed. A mock on any other path would hide
//! a device that works.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, device_value, of_target, payload},
    reader::{BranchOutcome, Callee, RecordedCall},
};

/// Checks every path through every init function.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    harness
        .init_paths()
        // Without its device the endpoint is a fallback, which `fallback_marked` checks.
        .filter(|init_path| !init_path.is_absent())
        .flat_map(|init_path| one(&init_path))
        .collect()
}

fn one(init_path: &InitPath<'_, '_>) -> Vec<Diagnostic> {
    let mocks: Vec<_> = init_path
        .code_path
        .runtime("Endpoint::mock")
        .map(|(_, call)| call)
        .collect();
    match init_path.failed() {
        Some((step, failed)) => failed_diagnostic(init_path, step, failed)
            .into_iter()
            .collect(),
        None => mocks
            .into_iter()
            .map(|mock| stray(init_path, mock))
            .collect(),
    }
}

fn failed_diagnostic(
    init_path: &InitPath<'_, '_>,
    step: usize,
    failed: &RecordedCall<'_>,
) -> Option<Diagnostic> {
    let (function, name) = (init_path.function(), failed.callee.name());
    let variant = init_path.device.variant_name();
    let help = format!("return `Endpoint::mock(&target.label, DeviceKind::{variant}, &error)`");
    let is_mock =
        |call: &&RecordedCall<'_>| call.callee == Callee::Runtime("Endpoint::mock".to_owned());
    let Some(mock) = init_path
        .code_path
        .call_of(&init_path.code_path.result)
        .filter(is_mock)
    else {
        return Some(init_path.diagnostic(
            format!("`{function}` does not return a mock when `{name}` fails"),
            &help,
        ));
    };
    match mock.arguments.as_slice() {
        [label, _, _] if *label != of_target("label") => Some(init_path.diagnostic(
            format!("the mock of `{function}` does not have the label of the target"),
            &help,
        )),
        [_, device, _] if *device != device_value(init_path.device) => Some(init_path.diagnostic(
            format!("the mock of `{function}` is marked with another device: `{device}`"),
            &help,
        )),
        [_, _, error] if *error == payload(BranchOutcome::Err, step) => None,
        _ => Some(init_path.diagnostic(
            format!("the mock of `{function}` does not contain the error of `{name}`"),
            &help,
        )),
    }
}

fn stray(init_path: &InitPath<'_, '_>, mock: &RecordedCall<'_>) -> Diagnostic {
    let message = format!(
        "`{}` makes a mock although nothing has failed",
        init_path.function()
    );
    Diagnostic::span(
        mock.span(),
        message,
        "make a mock on the `Err` of `target.open`, `choose` or `load` alone",
    )
}
