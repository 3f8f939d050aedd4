//! `layer_trace_golden`: the hidden state after every layer equals the recorded one. The failure names the first that diverges.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    check_run::{CheckRun, SubjectUnderTest},
    outcome::{Abort, CheckResult, Failures},
};
use crate::golden::Golden;
use testgen_nn::forward::ForwardError;

#[cfg(test)]
pub(super) const FAULT: Detected =
    Detected::new(Fault::LastLayerOff, "one element of the last layer off by 1 %", "still agrees");

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Abort::Skip(reason));
    }
    let tested = run.subject_under_test()?;
    let compared = compare_trace(run, &tested, &golden, is_hidden_state)?;
    let count = compared.len();
    let mut failures = Failures::default();
    if count == 0 {
        failures.push("no hidden state was compared");
    }
    failures.extend(first_diverging(&compared));
    failures.extend(compared.into_iter().filter_map(|state| state.failure));
    failures.conclude()?;
    Ok(Some(format!("{count} hidden states")))
}

/// Whether the trace `name` is a hidden state; `router_golden` compares the others.
pub(super) fn is_hidden_state(name: &str) -> bool {
    !name.starts_with("router.") && !name.starts_with("routing.")
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden.trace.iter().any(|(name, _)| !name.ends_with("embed"));
    (!recorded).then(|| "the golden has no `trace.layer.*`; record it with `testgen record`".to_owned())
}

/// A hidden state that was compared.
pub(super) struct ComparedState {
    pub(super) name: String,
    pub(super) failure: Option<String>,
}

/// Compares the recorded hidden states that are `selected`, in the order of computation.
pub(super) fn compare_trace(
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
            Some((_, got)) => run.compare_recorded(&traced, inputs, [expected, got], (tolerance, &traced)),
            None => Some(format!("`{traced}` was not computed")),
        };
        compared.push(ComparedState { name: name.clone(), failure });
    }
    let is_extra = |name: &str| golden.trace.iter().all(|(recorded, _)| recorded != name);
    for (name, _) in forward.trace.iter().filter(|(name, _)| selected(name) && is_extra(name)) {
        let failure = Some(format!("`trace.{name}` was computed, but not recorded"));
        compared.push(ComparedState { name: name.clone(), failure });
    }
    Ok(compared)
}

/// A message with the first hidden state that diverges, which is where the error arises.
pub(super) fn first_diverging(compared: &[ComparedState]) -> Option<String> {
    let first = compared.iter().position(|state| state.failure.is_some())?;
    let name = &compared[first].name;
    Some(match first.checked_sub(1).map(|before| &compared[before].name) {
        Some(before) => format!("first diverges at `{name}`; `{before}` still agrees"),
        None => format!("first diverges at `{name}`"),
    })
}
