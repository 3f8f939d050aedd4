//! Recorded hidden states, compared with the hidden states of a traced call.

use super::super::run::{CheckRun, SubjectUnderTest};
use crate::golden::Golden;
use testgen_nn::forward::ForwardError;

/// A hidden state that was compared.
pub(in crate::check) struct ComparedState {
    pub(in crate::check) name: String,
    pub(in crate::check) failure: Option<String>,
}

/// Compares the recorded hidden states that are `selected`, in the order of computation.
pub(in crate::check) fn compare_trace(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
    selected: impl Fn(&str) -> bool,
) -> Result<Vec<ComparedState>, ForwardError> {
    let inputs = &golden.main().inputs;
    let forward = tested.model().forward_traced(inputs)?;
    let tolerance = run.tolerance(golden, tested);
    let mut compared = Vec::new();
    for (name, expected) in golden.trace.iter().filter(|(name, _)| selected(name)) {
        let traced = format!("trace.{name}");
        let failure = match forward.trace.iter().find(|(found, _)| found == name) {
            Some((_, got)) => {
                run.measure_layer(name, inputs, (expected, got), tolerance);
                run.compare_recorded(&traced, inputs, (expected, got), (tolerance, &traced))
            }
            None => Some(format!("`{traced}` was not computed")),
        };
        compared.push(ComparedState {
            name: name.clone(),
            failure,
        });
    }
    // A state that transformers does not have has nothing to be compared with, and would pass
    // unseen.
    let selected = forward.trace.iter().filter(|(name, _)| selected(name));
    for (name, _) in selected {
        if golden.trace.iter().any(|(recorded, _)| recorded == name) {
            continue;
        }
        let failure = Some(format!("`trace.{name}` was computed, but not recorded"));
        compared.push(ComparedState {
            name: name.clone(),
            failure,
        });
    }
    Ok(compared)
}

/// Layers from which on a model is deep: its errors are reported by layer also if they pass.
const DEEP: usize = 8;

/// Adds the errors of the hidden states of a deep model to the evidence, without evaluating them.
pub(in crate::check) fn measure_deep_trace(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    golden: &Golden,
) {
    let states: Vec<_> = golden
        .trace
        .iter()
        .filter(|(name, _)| is_hidden_state(name))
        .collect();
    if states.len() < DEEP {
        return;
    }
    let inputs = &golden.main().inputs;
    // The outputs agree. A trace that does not fit into memory must not change that.
    let Ok(forward) = tested.model().forward_traced(inputs) else {
        return;
    };
    let tolerance = run.tolerance(golden, tested);
    for (name, expected) in states {
        if let Some((_, got)) = forward.trace.iter().find(|(found, _)| found == name) {
            run.measure_layer(name, inputs, (expected, got), tolerance);
        }
    }
}

/// A message with the first hidden state that diverges, in which the error arises.
pub(in crate::check) fn first_diverging(compared: &[ComparedState]) -> Option<String> {
    let first = compared.iter().position(|state| state.failure.is_some())?;
    let name = &compared[first].name;
    Some(
        match first.checked_sub(1).map(|before| &compared[before].name) {
            Some(before) => format!("first diverges at `{name}`; `{before}` still agrees"),
            None => format!("first diverges at `{name}`"),
        },
    )
}

/// Whether the trace `name` is a hidden state; `router_golden` compares the others.
pub(in crate::check) fn is_hidden_state(name: &str) -> bool {
    !name.starts_with("router.") && !name.starts_with("routing.")
}
