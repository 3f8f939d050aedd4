//! `embed_golden`: the output of the embedding layer equals the recorded one.

use super::{Examination, Failures, Found, Stop, layer_trace_golden::compare_trace};
use crate::golden::Golden;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for (_, failure) in compare_trace(exam, &subject, &golden, |name| name.ends_with("embed"))? {
        failures.note(failure);
    }
    failures.conclude()?;
    Ok(None)
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden.trace.iter().any(|(name, _)| name.ends_with("embed"));
    (!recorded).then(|| "the golden has no `trace.embed`; record it with `testgen record`".to_owned())
}
