//! Each device has a handler that runs the task on it, and its init function returns that handler.
//!
//! ```text
//! pub fn create_rocm_fill_mask_endpoint_handler(label: &str, device: OpenDevice, model: Model) -> Endpoint {
//!     Endpoint::real(label, DeviceKind::Rocm, device, model, task::fill_mask)
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
    journey::{Journey, LABEL, device_value},
    reader::{Call, Callee, Value},
    signature::{self, Shape},
    vocabulary,
};
use testgen_contract::DeviceKind;

const PARAMETERS: [Shape; 3] = [Shape::Text, Shape::Owned("OpenDevice"), Shape::Owned("Model")];
const WRITTEN: &str = "(label: &str, device: OpenDevice, model: Model) -> Endpoint";

/// Looks at the handlers, then at what the init functions return.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    let Some(demand) = &harness.demand else { return Vec::new() };
    let defined = DeviceKind::ALL.iter().flat_map(|&device| defined(harness, demand, device));
    let bodies = harness.handlers.iter().filter_map(|entry| body(entry, demand));
    let returned = harness.journeys().flat_map(|journey| returned(&journey, demand));
    defined.chain(bodies).chain(returned).collect()
}

fn defined(harness: &Harness<'_>, demand: &Demand, device: DeviceKind) -> Vec<Remark> {
    let name = handler_name(device, demand);
    let functions = harness.functions.get(&name).map(Vec::as_slice).unwrap_or_default();
    let [first, rest @ ..] = functions else {
        let help = format!("write `pub fn {name}{WRITTEN}`");
        return vec![Remark::top(format!("the file has no function `{name}`"), help)];
    };
    let mut remarks = signature::remarks(&harness.names, first, &PARAMETERS, WRITTEN);
    let twice = format!("`{name}` is defined twice");
    remarks.extend(rest.iter().map(|function| Remark::at(&function.sig.ident, twice.as_str(), "keep one of them")));
    remarks
}

/// The body is one `Endpoint::real` on every way.
fn body(entry: &Entry<'_>, demand: &Demand) -> Option<Remark> {
    if !entry.reading.troubles.is_empty() {
        return None;
    }
    let (device, task) = (entry.device, demand.task);
    let variant = device.variant_name();
    let help =
        format!("write `Endpoint::real(label, DeviceKind::{variant}, device, model, task::{task})` and nothing else");
    let expected = [
        Value::Parameter(0),
        device_value(device),
        Value::Parameter(1),
        Value::Parameter(2),
        Value::Runtime(format!("task::{task}")),
    ];
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
    let help = format!("return `{name}(label, device, model)` once the model is loaded");
    let at = |message: String| vec![Remark::span(journey.way.end(), message, help.as_str())];
    let made: Vec<_> = journey.way.calls().map(|(_, call)| call).filter(|call| makes_endpoint(call)).collect();
    let (Some(model), Some(device)) = (journey.loaded(), journey.opened()) else {
        let message = format!("`{}` makes a handler although no model was loaded", journey.function());
        return made.iter().map(|call| Remark::span(call.span(), message.as_str(), help.as_str())).collect();
    };
    let result = &journey.way.result;
    let marked = |call: &&Call<'_>| call.callee == Callee::Method("with_memory".to_owned());
    let handler = journey.way.call_of(result).filter(marked).and_then(|call| call.arguments.first()).unwrap_or(result);
    let Some(call) = journey.way.call_of(handler).filter(|call| call.callee == Callee::Local(name.clone())) else {
        return at(format!("`{}` does not return its own handler once the model is loaded", journey.function()));
    };
    if call.arguments != [LABEL, device, model] {
        return at(format!(
            "the handler of `{}` is made of something else than it opened and loaded",
            journey.function()
        ));
    }
    if made.len() == 1 { Vec::new() } else { at(format!("`{}` makes more than one handler", journey.function())) }
}

/// Whether `call` makes an endpoint that says it is real.
fn makes_endpoint(call: &Call<'_>) -> bool {
    match &call.callee {
        Callee::Local(name) => vocabulary::is_handler(name),
        Callee::Runtime(name) => name == "Endpoint::real",
        Callee::Method(_) | Callee::Other(_) => false,
    }
}
