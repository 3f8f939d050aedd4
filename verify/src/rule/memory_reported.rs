//! The memory of the device is read and reported before and after the load, and the endpoint carries both.
//!
//! `let before = memory(&device); report_memory(&target.label, "before the load", &before);` stands before `load`, the same with `after`
//! after it, and the loaded model that the handler gets has `.with_memory(before, after)`: the check `memory_released` compares
//! them with what is in use once the model is dropped. Both readings are of the device that was opened.

use crate::{
    finding::Remark,
    harness::Harness,
    journey::{Journey, of_target},
    reader::{Callee, Value},
};

/// Looks at every way on which the model is loaded.
pub(crate) fn check(harness: &Harness<'_>) -> Vec<Remark> {
    harness.journeys().filter_map(|journey| one(&journey)).collect()
}

fn one(journey: &Journey<'_, '_>) -> Option<Remark> {
    let (load, call) = journey.load()?;
    let device = journey.opened()?;
    let reading = |range: std::ops::Range<usize>, word: &str| {
        let mut readings = journey.way.runtime("memory").filter(|(step, _)| range.contains(step));
        readings.find(|(step, call)| call.arguments == [device.clone()] && is_reported(journey, *step, word, &range))
    };
    let Some((before, _)) = reading(0..load, "before") else {
        let message = format!("`{}` does not report its device's memory before the load", journey.function());
        let help = "write `let before = memory(&device);` and `report_memory(&target.label, \"before the load\", &before);` before it";
        return Some(Remark::span(call.span(), message, help));
    };
    journey.loaded()?;
    let Some((after, _)) = reading(load..usize::MAX, "after") else {
        let message = format!("`{}` does not report its device's memory after the load", journey.function());
        let help = "write `let after = memory(&device);` and `report_memory(&target.label, \"after the load\", &after);` behind it";
        return Some(Remark::span(call.span(), message, help));
    };
    carried(journey, before, after)
}

/// Whether `report_memory(&target.label, "..word..", reading)` is called in time: a load that kills the process leaves behind only
/// what was reported before it.
fn is_reported(journey: &Journey<'_, '_>, reading: usize, word: &str, range: &std::ops::Range<usize>) -> bool {
    journey.way.runtime("report_memory").any(|(step, call)| match call.arguments.as_slice() {
        [label, Value::Text(text), found] => {
            range.contains(&step)
                && *label == of_target("label")
                && text.contains(word)
                && *found == Value::Called(reading)
        }
        _ => false,
    })
}

fn carried(journey: &Journey<'_, '_>, before: usize, after: usize) -> Option<Remark> {
    let returned = journey.way.call_of(&journey.way.result);
    let arguments = returned.into_iter().flat_map(|call| &call.arguments);
    let mut calls = arguments.filter_map(|argument| journey.way.call_of(argument));
    let marked = calls.find(|call| call.callee == Callee::Method("with_memory".to_owned()));
    let expected = [Value::Called(before), Value::Called(after)];
    if marked.is_some_and(|call| call.arguments.get(1..) == Some(expected.as_slice())) {
        return None;
    }
    let message =
        format!("the loaded model of `{}` does not carry its memory before and after the load", journey.function());
    Some(Remark::span(
        journey.way.end(),
        message,
        "pass `LoadedModel::new(target, device, model).with_memory(before, after)` to the handler",
    ))
}
