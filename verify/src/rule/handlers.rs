//! Each device has a handler that runs the task on it, and its init function returns that handler.
//!
//! ```text
//! pub fn create_rocm_fill_mask_endpoint_handler(loaded: LoadedModel) -> Endpoint {
//!     Endpoint::real(DeviceKind::Rocm, loaded, task::fill_mask)
//! }
//! ```
//!
//! The name follows the device and the spec's task; the body is `Endpoint::real` with what it was given, its own device, and
//! the runtime's function of the task: a closure in its place could answer success without running anything. The init
//! function returns its own device's handler, made of the label asked for, the device that was opened and the model that
//! was loaded, and of nothing else.

use crate::{
    expectation::Demand,
    finding::Remark,
    harness::{Entry, Harness, handler_name},
    journey::{Journey, TARGET, device_value},
    reader::{Call, Callee, Value},
    signature::{self, Shape, Signature},
    vocabulary,
};
use testgen_types::DeviceKind;

const SIGNATURE: Signature = Signature {
    parameters: &[Shape::Owned("LoadedModel")],
    returns: Shape::Owned("Endpoint"),
    written: "(loaded: LoadedModel) -> Endpoint",
};

/// Looks at the handlers, then at what the init functions return.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let Some(demand) = &harness.demand else { return Vec::new() };
    let names = DeviceKind::ALL.iter().map(|&device| handler_name(device, demand));
    let defined = names.flat_map(|name| signature::defined_once(harness, &name, &SIGNATURE));
    let bodies = harness.handlers.iter().filter_map(|entry| body(entry, demand));
    let returned = harness.journeys().flat_map(|journey| returned(&journey, demand));
    defined.chain(bodies).chain(returned).collect()
}

/// The body is one `Endpoint::real` on every way.
fn body(entry: &Entry<'_>, demand: &Demand) -> Option<Remark> {
    if !entry.reading.troubles.is_empty() {
        return None;
    }
    let (device, task) = (entry.device, demand.task);
    let variant = device.variant_name();
    let help = format!("write `Endpoint::real(DeviceKind::{variant}, loaded, task::{task})` and nothing else");
    let expected = [device_value(device), Value::Parameter(0), Value::Runtime(format!("task::{task}"))];
    let is_real = |call: &Call<'_>| call.callee == Callee::Runtime("Endpoint::real".to_owned());
    entry.reading.ways.iter().find_map(|way| {
        let made = way.call_of(&way.result).filter(|call| is_real(call));
        if made.is_some_and(|call| call.arguments == expected) {
            return None;
        }
        let message = match made {
            Some(_) => format!("the handler of `{task}` on `{device}` runs something else"),
            None => format!("the handler of `{task}` on `{device}` does not end in `Endpoint::real`"),
        };
        Some(Remark::span(way.end(), message, help.as_str()))
    })
}

/// A way that has loaded the model returns the handler; no other way makes one.
fn returned(journey: &Journey<'_, '_>, demand: &Demand) -> Vec<Remark> {
    let name = handler_name(journey.device, demand);
    let help = format!("return `{name}(LoadedModel::new(target, device, model))` once the model is loaded");
    let at = |message: String| vec![Remark::span(journey.way.end(), message, help.as_str())];
    let made: Vec<_> = journey.way.calls().map(|(_, call)| call).filter(|call| makes_endpoint(call)).collect();
    let (Some(model), Some(device)) = (journey.loaded(), journey.opened()) else {
        let message = format!("`{}` makes a handler although no model was loaded", journey.function());
        return made.iter().map(|call| Remark::span(call.span(), message.as_str(), help.as_str())).collect();
    };
    let handler = journey.way.call_of(&journey.way.result).filter(|call| call.callee == Callee::Local(name.clone()));
    let Some(handler) = handler else {
        return at(format!("`{}` does not return its own handler once the model is loaded", journey.function()));
    };
    if !matches!(handler.arguments.as_slice(), [loaded] if is_loaded(journey, loaded, [TARGET, device, model])) {
        return at(format!(
            "the handler of `{}` does not get the model that was loaded for its target",
            journey.function()
        ));
    }
    if made.len() == 1 { Vec::new() } else { at(format!("`{}` makes more than one handler", journey.function())) }
}

/// Whether `value` is `LoadedModel::new(target, device, model)`, perhaps `.with_memory(..)`.
fn is_loaded<'a>(journey: &Journey<'_, 'a>, value: &Value<'a>, expected: [Value<'a>; 3]) -> bool {
    let marked = |call: &&Call<'_>| call.callee == Callee::Method("with_memory".to_owned());
    let new = journey.way.call_of(value).filter(marked).and_then(|call| call.arguments.first()).unwrap_or(value);
    let is_new = |call: &Call<'_>| call.callee == Callee::Runtime("LoadedModel::new".to_owned());
    journey.way.call_of(new).is_some_and(|call| is_new(call) && call.arguments == expected)
}

/// Whether `call` makes an endpoint that says it is real.
fn makes_endpoint(call: &Call<'_>) -> bool {
    match &call.callee {
        Callee::Local(name) => vocabulary::is_handler(name),
        Callee::Runtime(name) => name == "Endpoint::real",
        Callee::Method(_) | Callee::Other(_) => false,
    }
}
