//! Each device has a handler that runs the task on it, and its init function returns that handler.
//!
//! ```text
//! pub fn create_rocm_fill_mask_endpoint_handler(loaded: LoadedModel) -> Endpoint {
//!     Endpoint::real(DeviceKind::Rocm, loaded, task::fill_mask)
//! }
//! ```
//!
//! The name follows the device and the spec's task; the body is `Endpoint::real` with its argument,
//! its own device, and the runtime's function of the task: a closure in its place could report
//! success without running anything. The init function returns its own device's handler, made from
//! the given label, the opened device and the loaded model, and from nothing else.

use crate::{
    expectation::RequiredChecks,
    finding::Diagnostic,
    harness::{EntryPoint, ParsedHarness, handler_name},
    init_path::{InitPath, TARGET, device_value},
    reader::{Callee, RecordedCall, Value},
    signature::{self, Signature, SignatureType},
    vocabulary,
};
use testgen_types::DeviceKind;

const SIGNATURE: Signature = Signature {
    parameters: &[SignatureType::Owned("LoadedModel")],
    returns: SignatureType::Owned("Endpoint"),
    written: "(loaded: LoadedModel) -> Endpoint",
};

/// Checks the handlers, then the values that the init functions return.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    let Some(requirements) = &harness.requirements else {
        return Vec::new();
    };
    // Also for devices that the spec does not name, because every harness has all init functions.
    let names = DeviceKind::ALL
        .iter()
        .map(|&device| handler_name(device, requirements));
    let defined = names.flat_map(|name| signature::defined_once(harness, &name, &SIGNATURE));
    let bodies = harness
        .handlers
        .iter()
        .filter_map(|entry| body(entry, requirements));
    let returned = harness
        .init_paths()
        .flat_map(|init_path| returned(&init_path, requirements));
    defined.chain(bodies).chain(returned).collect()
}

/// The body is one `Endpoint::real` on every path.
fn body(entry: &EntryPoint<'_>, requirements: &RequiredChecks) -> Option<Diagnostic> {
    // A body that the reader does not understand is another rule's finding.
    if !entry.interpretation.unsupported.is_empty() {
        return None;
    }
    let (device, task) = (entry.device, requirements.task);
    let variant = device.variant_name();
    let help = format!(
        "write `Endpoint::real(DeviceKind::{variant}, loaded, task::{task})` and nothing else"
    );
    let expected = [
        device_value(device),
        Value::Parameter(0),
        Value::Runtime(format!("task::{task}")),
    ];
    let is_real =
        |call: &RecordedCall<'_>| call.callee == Callee::Runtime("Endpoint::real".to_owned());
    entry
        .interpretation
        .code_paths
        .iter()
        .find_map(|code_path| {
            let made = code_path
                .call_of(&code_path.result)
                .filter(|call| is_real(call));
            // All arguments at once: the device, the given model, and the runtime's own function.
            if made.is_some_and(|call| call.arguments == expected) {
                return None;
            }
            let message = match made {
                Some(_) => format!("the handler of `{task}` on `{device}` runs something else"),
                None => format!(
                    "the handler of `{task}` on `{device}` does not end in `Endpoint::real`"
                ),
            };
            Some(Diagnostic::span(code_path.end(), message, help.as_str()))
        })
}

/// A path that has loaded the model returns the handler; no other path makes one.
fn returned(init_path: &InitPath<'_, '_>, requirements: &RequiredChecks) -> Vec<Diagnostic> {
    let name = handler_name(init_path.device, requirements);
    let help = format!(
        "return `{name}(LoadedModel::new(target, device, model))` once the model is loaded"
    );
    let made: Vec<_> = init_path
        .code_path
        .calls()
        .map(|(_, call)| call)
        .filter(|call| makes_endpoint(call))
        .collect();
    // Without a model a handler would answer with nothing, as if it had one.
    let (Some(model), Some(device)) = (init_path.loaded(), init_path.opened()) else {
        let message = format!(
            "`{}` makes a handler although no model was loaded",
            init_path.function()
        );
        return made
            .iter()
            .map(|call| Diagnostic::span(call.span(), message.as_str(), help.as_str()))
            .collect();
    };
    let handler = init_path
        .code_path
        .call_of(&init_path.code_path.result)
        .filter(|call| call.callee == Callee::Local(name.clone()));
    let Some(handler) = handler else {
        return vec![init_path.diagnostic(
            format!(
                "`{}` does not return its own handler once the model is loaded",
                init_path.function()
            ),
            &help,
        )];
    };
    if !matches!(handler.arguments.as_slice(), [loaded] if is_loaded(init_path, loaded, [TARGET, device, model]))
    {
        return vec![init_path.diagnostic(
            format!(
                "the handler of `{}` does not receive the model that was loaded for its target",
                init_path.function()
            ),
            &help,
        )];
    }
    if made.len() == 1 {
        Vec::new()
    } else {
        vec![init_path.diagnostic(
            format!("`{}` makes more than one handler", init_path.function()),
            &help,
        )]
    }
}

/// Whether `value` is `LoadedModel::new(target, device, model)`, perhaps `.with_memory(..)`.
fn is_loaded<'a>(
    init_path: &InitPath<'_, 'a>,
    value: &Value<'a>,
    expected: [Value<'a>; 3],
) -> bool {
    let new = init_path
        .code_path
        .call_of(value)
        // The memory is a measurement around the same model, so that it may be attached.
        .filter(|call| call.callee == Callee::Method("with_memory".to_owned()))
        .and_then(|call| call.arguments.first())
        .unwrap_or(value);
    let is_new =
        |call: &RecordedCall<'_>| call.callee == Callee::Runtime("LoadedModel::new".to_owned());
    init_path
        .code_path
        .call_of(new)
        .is_some_and(|call| is_new(call) && call.arguments == expected)
}

/// Whether `call` makes an endpoint that is marked as real.
fn makes_endpoint(call: &RecordedCall<'_>) -> bool {
    match &call.callee {
        Callee::Local(name) => vocabulary::is_handler(name),
        // `Endpoint::mock` is marked as a mock, and `mock_marked` checks it.
        Callee::Runtime(name) => name == "Endpoint::real",
        Callee::Method(_) | Callee::Other(_) => false,
    }
}
