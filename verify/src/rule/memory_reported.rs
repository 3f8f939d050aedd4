//! The memory of the device is read and reported before and after the load, and the endpoint
//! contains both readings.
//!
//! `let before = memory(&device); report_memory(&target.label, "before the load", &before);` comes
//! before `load`, the same with `after` after it, and the loaded model that the handler receives
//! has `.with_memory(before, after)`: the check `memory_released` compares them with the memory in
//! use after the model is dropped. Both readings are of the opened device.

use crate::{
    finding::Diagnostic,
    harness::ParsedHarness,
    init_path::{InitPath, of_target},
    reader::{Callee, Value},
};

/// Checks every path on which the model is loaded.
pub(crate) fn check(harness: &ParsedHarness<'_>) -> Vec<Diagnostic> {
    harness
        .init_paths()
        .filter_map(|init_path| one(&init_path))
        .collect()
}

fn one(init_path: &InitPath<'_, '_>) -> Option<Diagnostic> {
    // A path without a load or without an open device is a finding of `precision_from_probe` or
    // ends in a mock or a fallback.
    let (load, call) = init_path.load()?;
    let device = init_path.opened()?;
    let reading = |range: std::ops::Range<usize>, word: &str| {
        let mut readings = init_path
            .code_path
            .runtime("memory")
            .filter(|(step, _)| range.contains(step));
        readings.find(|(step, call)| {
            call.arguments == [device.clone()] && is_reported(init_path, *step, word, &range)
        })
    };
    let Some((before, _)) = reading(0..load, "before") else {
        let message = format!(
            "`{}` does not report its device's memory before the load",
            init_path.function()
        );
        let help = "write `let before = memory(&device);` and `report_memory(&target.label, \"before the load\", &before);` before it";
        return Some(Diagnostic::span(call.span(), message, help));
    };
    // A load that failed has no memory to report; `mock_marked` checks that path.
    init_path.loaded()?;
    let Some((after, _)) = reading(load..usize::MAX, "after") else {
        let message = format!(
            "`{}` does not report its device's memory after the load",
            init_path.function()
        );
        let help = "write `let after = memory(&device);` and `report_memory(&target.label, \"after the load\", &after);` after it";
        return Some(Diagnostic::span(call.span(), message, help));
    };
    carried(init_path, before, after)
}

/// Whether `report_memory(&target.label, "..word..", reading)` is called in time.
fn is_reported(
    init_path: &InitPath<'_, '_>,
    reading: usize,
    word: &str,
    range: &std::ops::Range<usize>,
) -> bool {
    // When a load kills the process, only earlier reports exist.
    init_path
        .code_path
        .runtime("report_memory")
        .any(|(step, call)| match call.arguments.as_slice() {
            [label, Value::Text(text), found] => {
                range.contains(&step)
                    && *label == of_target("label")
                    // The word decides: the rest of the text is for the reader of the log.
                    && text.contains(word)
                    && *found == Value::Called(reading)
            }
            _ => false,
        })
}

fn carried(init_path: &InitPath<'_, '_>, before: usize, after: usize) -> Option<Diagnostic> {
    let returned = init_path.code_path.call_of(&init_path.code_path.result);
    let arguments = returned.into_iter().flat_map(|call| &call.arguments);
    let mut calls = arguments.filter_map(|argument| init_path.code_path.call_of(argument));
    let marked = calls.find(|call| call.callee == Callee::Method("with_memory".to_owned()));
    let expected = [Value::Called(before), Value::Called(after)];
    if marked.is_some_and(|call| call.arguments.get(1..) == Some(expected.as_slice())) {
        return None;
    }
    let message = format!(
        "the loaded model of `{}` does not contain its memory before and after the load",
        init_path.function()
    );
    Some(Diagnostic::span(
        init_path.code_path.end(),
        message,
        "pass `LoadedModel::new(target, device, model).with_memory(before, after)` to the handler",
    ))
}
