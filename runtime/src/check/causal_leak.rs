//! `causal_leak`: a later token changes no earlier output, not by one bit.

use super::{
    Examination, Failures, Found, Stop,
    observation::{Observation, observe},
    sequences::Sequences,
};
use crate::{compare::compare, tolerance::Threshold};

const EXACT: Threshold = Threshold { rel_l2: 0.0, max_rel: 0.0 };
const LENGTH: usize = 24;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    if let Some(reason) = inapplicable(subject.model().class()) {
        return Err(Stop::Ignored(reason));
    }
    let facts = exam.text_facts(&subject, &golden);
    if !facts.causal {
        return Err(Stop::Ignored(format!("`{}` reads the whole text at once", subject.model().class())));
    }
    let length = LENGTH.min(facts.longest);
    let rows = Sequences::generated(2, length, facts);
    let mut failures = Failures::default();
    let mut seen = false;
    let before = observe(subject.model(), facts.stream, &rows.whole(facts))?;
    for start in [1, length / 2, length - 1] {
        let after = observe(subject.model(), facts.stream, &rows.changed_from(start, facts).whole(facts))?;
        for ((name, one), (_, other)) in before.positions.iter().zip(&after.positions) {
            let (earlier, got) = (one.narrow(1, 0, start), other.narrow(1, 0, start));
            let told = format!("{name} before position {start}");
            failures.note(exam.compare(&told, &earlier, &got, EXACT));
        }
        seen |= is_seen(&before, &after, start, length - start);
    }
    if before.positions.is_empty() {
        return Err(Stop::Fail("the model gives nothing per position".to_owned()));
    }
    if !seen {
        failures.push("the changed tokens change no output at all, so nothing was proven");
    }
    failures.conclude()?;
    Ok(None)
}

/// Why a class has nothing to leak: of the models that compare images with texts, some read a text in both directions.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    class.starts_with("Siglip").then(|| format!("`{class}` reads a text in both directions"))
}

/// Whether the change is visible at and behind the changed position.
fn is_seen(before: &Observation, after: &Observation, start: usize, rest: usize) -> bool {
    before.positions.iter().zip(&after.positions).any(|((name, one), (_, other))| {
        compare(name, &one.narrow(1, start, rest), &other.narrow(1, start, rest), EXACT).failure.is_some()
    })
}
