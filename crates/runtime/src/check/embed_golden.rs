//! `embed_golden`: the output of the embedding layer equals the recorded one.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    comparison::hidden_states::compare_trace,
    run::{Abort, CheckResult, CheckRun, Failures},
};
use crate::golden::Golden;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::EmbeddingOff,
    "one element of the embeddings off by 1 %",
    "embed`: ",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for state in compare_trace(run, &tested, &golden, |name| name.ends_with("embed"))? {
        failures.extend(state.failure);
    }
    failures.conclude()?;
    Ok(None)
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden.trace.iter().any(|(name, _)| name.ends_with("embed"));
    (!recorded)
        .then(|| "the golden has no `trace.embed`; record it with `testgen record`".to_owned())
}
