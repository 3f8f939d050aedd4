//! `pad_invariance`: padding, left or right, changes nothing at the real positions.
//!
//! Left padding is for models that count positions as `generate` says them; encoders, and the decoders beside them, count
//! from the first column, so there it would rightly change the output, as it does where a bias stands before a convolution.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    graph_padding,
    observation::{Observation, observe},
    sequences::{Sequences, Side, Stream, TextFacts},
};
use crate::{golden::Golden, tolerance::Tolerance};
use testgen_contract::Architecture;

const PADDING: usize = 5;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    if exam.spec().architecture == Architecture::Graph {
        return graph_padding::pad_invariance(exam);
    }
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    let (mut left, mut reads_front) = (false, false);
    for facts in exam.streams(&subject, &golden) {
        left |= padded(exam, &subject, &golden, facts, &mut failures)?;
        reads_front |= facts.reads_front;
    }
    failures.conclude()?;
    let why = match reads_front {
        true => "the convolution reads the bias of the projection in front of the text, as in transformers",
        false => "positions are counted from the first column",
    };
    Ok((!left).then(|| format!("right padding only: {why}")))
}

/// Whether padding on the left was tried, too. Where it counts, the golden's case with left padding is compared all the same.
fn padded(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<bool, Stop> {
    let none = || Stop::Fail(format!("the golden has no `{}` [batch, seq]", facts.stream.ids()));
    let rows = equal_rows(golden, facts).ok_or_else(none)?;
    let rows = rows.prefix(rows.longest().min(facts.longest - PADDING));
    let length = rows.longest();
    let tolerance = exam.tolerance(golden, subject);
    let plain = observe(subject.model(), facts.stream, &rows.whole(facts))?;
    let left = facts.causal && facts.stream == Stream::Text && !facts.reads_front;
    let sides: &[Side] = if left { &[Side::Right, Side::Left] } else { &[Side::Right] };
    for &side in sides {
        let observed = observe(subject.model(), facts.stream, &rows.padded(length + PADDING, side, facts))?;
        let start = if side == Side::Left { PADDING } else { 0 };
        let pooled = facts.pooled_survives(side);
        let parts = Parts { side, start, length, pooled, of: facts.stream.tell() };
        compare(exam, &tolerance, &plain, &observed, parts, failures);
    }
    Ok(left)
}

/// The first recorded row alone, without padding: rows of one length, so that nothing is padded to begin with.
fn equal_rows(golden: &Golden, facts: TextFacts<'_>) -> Option<Sequences> {
    let rows = golden.cases.iter().filter_map(|case| Sequences::of_case(case, facts.stream));
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
    /// Which sequence, in words.
    of: &'static str,
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
    let told = |name: &str| format!("{name} padded {side}{}", parts.of);
    for ((name, expected), (_, got)) in plain.positions.iter().zip(&padded.positions) {
        let got = got.narrow(1, parts.start, parts.length);
        failures.note(exam.compare(&told(name), expected, &got, tolerance.metamorphic(name)));
    }
    for ((name, expected), (_, got)) in plain.pooled.iter().zip(&padded.pooled).filter(|_| parts.pooled) {
        failures.note(exam.compare(&told(name), expected, got, tolerance.metamorphic(name)));
    }
}
