//! `layer_trace_golden`: the hidden state after every layer equals the recorded one. The failure
//! names the first that diverges.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::hidden_states::{compare_trace, first_diverging, is_hidden_state},
    run::{Abort, CheckResult, CheckRun, Failures},
};
use crate::golden::Golden;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::LastLayerOff,
    "one element of the last layer off by 1 %",
    "still agrees",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let compared = compare_trace(run, &tested, &golden, is_hidden_state)?;
    let count = compared.len();
    let mut failures = Failures::default();
    // A golden with a trace that no name of the model matches would pass.
    if count == 0 {
        failures.push("no hidden state was compared");
    }
    // First in the message, because later layers only repeat the error of the first.
    failures.extend(first_diverging(&compared));
    failures.extend(compared.into_iter().filter_map(|state| state.failure));
    failures.conclude()?;
    Ok(Some(format!("{count} hidden states")))
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden
        .trace
        .iter()
        .any(|(name, _)| !name.ends_with("embed"));
    (!recorded)
        .then(|| "the golden has no `trace.layer.*`; record it with `testgen record`".to_owned())
}
