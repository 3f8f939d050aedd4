//! `pad_invariance`: padding, left or right, changes nothing at the real positions.
//!
//! Left padding is for models that count positions as `generate` says them; encoders count from the first column, so
//! there it would rightly change the output.

use super::{
    Examination, Failures, Found, Stop,
    observation::{Observation, observe},
    sequences::{Sequences, Side},
};
use crate::{golden::Golden, tolerance::Tolerance};

const PADDING: usize = 5;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let facts = exam.text_facts(&subject, &golden);
    let rows =
        equal_rows(&golden).ok_or_else(|| Stop::Fail("the golden has no `input_ids` [batch, seq]".to_owned()))?;
    let rows = rows.prefix(rows.longest().min(facts.longest - PADDING));
    let length = rows.longest();
    let tolerance = exam.tolerance(&golden, &subject);
    let plain = observe(subject.model(), &rows.whole(facts))?;
    let mut failures = Failures::default();
    let sides: &[Side] = if facts.causal { &[Side::Right, Side::Left] } else { &[Side::Right] };
    for &side in sides {
        let padded = observe(subject.model(), &rows.padded(length + PADDING, side, facts))?;
        let start = if side == Side::Left { PADDING } else { 0 };
        let pooled = facts.pooled_survives(side);
        let parts = Parts { side, start, length, pooled };
        compare(exam, &tolerance, &plain, &padded, parts, &mut failures);
    }
    failures.conclude()?;
    let left =
        if facts.causal { None } else { Some("right padding only: positions are counted from the first column") };
    Ok(left.map(str::to_owned))
}

/// The first recorded row alone, without padding: rows of one length, so that nothing is padded to begin with.
fn equal_rows(golden: &Golden) -> Option<Sequences> {
    let rows = golden.cases.iter().filter_map(Sequences::of_case);
    let longest = rows.max_by_key(Sequences::longest)?;
    let length = longest.longest();
    Some(Sequences(longest.0.into_iter().filter(|row| row.len() == length).collect()))
}

#[derive(Clone, Copy)]
struct Parts {
    side: Side,
    start: usize,
    length: usize,
    pooled: bool,
}

fn compare(
    exam: &mut Examination<'_>,
    tolerance: &Tolerance<'_>,
    plain: &Observation,
    padded: &Observation,
    parts: Parts,
    failures: &mut Failures,
) {
    let side = match parts.side {
        Side::Left => "left",
        Side::Right => "right",
    };
    for ((name, expected), (_, got)) in plain.positions.iter().zip(&padded.positions) {
        let got = got.narrow(1, parts.start, parts.length);
        failures.note(exam.compare(&format!("{name} padded {side}"), expected, &got, tolerance.metamorphic(name)));
    }
    for ((name, expected), (_, got)) in plain.pooled.iter().zip(&padded.pooled).filter(|_| parts.pooled) {
        failures.note(exam.compare(&format!("{name} padded {side}"), expected, got, tolerance.metamorphic(name)));
    }
}
