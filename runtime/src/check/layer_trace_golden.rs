//! `layer_trace_golden`: every layer's hidden state equals the recorded one; names the first that diverges.

use super::{Examination, Failures, Found, Stop, examination::Subject};
use crate::{ForwardError, golden::Golden};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let compared = compare_trace(exam, &subject, &golden, is_hidden_state)?;
    let count = compared.len();
    let mut failures = Failures::default();
    if count == 0 {
        failures.push("no hidden state was compared");
    }
    if let Some(first) = first_diverging(&compared) {
        failures.push(first);
    }
    for (_, failure) in compared {
        failures.note(failure);
    }
    failures.conclude()?;
    Ok(Some(format!("{count} hidden states")))
}

/// What routers decide is `router_golden`'s.
pub(super) fn is_hidden_state(name: &str) -> bool {
    !name.starts_with("router.") && !name.starts_with("routing.")
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let recorded = golden.trace.iter().any(|(name, _)| !name.ends_with("embed"));
    (!recorded).then(|| "the golden has no `trace.layer.*`; record it with `testgen record`".to_owned())
}

/// Compares the recorded hidden states that are `wanted`, in their order: name and what is wrong.
pub(super) fn compare_trace(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Option<String>)>, ForwardError> {
    let forward = subject.model().forward_traced(&golden.main().inputs)?;
    let tolerance = exam.tolerance(golden, subject);
    let mut compared = Vec::new();
    for (name, expected) in golden.trace.iter().filter(|(name, _)| wanted(name)) {
        let traced = format!("trace.{name}");
        let failure = match forward.trace.iter().find(|(found, _)| found == name) {
            Some((_, got)) => exam.compare(&traced, expected, got, tolerance.golden(&traced)),
            None => Some(format!("`{traced}` was not computed")),
        };
        compared.push((name.clone(), failure));
    }
    let extra = forward.trace.iter().filter(|(name, _)| golden.trace.iter().all(|(recorded, _)| recorded != name));
    for (name, _) in extra.filter(|(name, _)| wanted(name)) {
        compared.push((name.clone(), Some(format!("`trace.{name}` was computed and is not recorded"))));
    }
    Ok(compared)
}

/// Which layer diverges first, in words.
pub(super) fn first_diverging(compared: &[(String, Option<String>)]) -> Option<String> {
    let first = compared.iter().position(|(_, failure)| failure.is_some())?;
    let name = &compared[first].0;
    Some(match first.checked_sub(1).map(|before| &compared[before].0) {
        Some(before) => format!("first diverges at `{name}`; `{before}` still agrees"),
        None => format!("first diverges at `{name}`"),
    })
}
