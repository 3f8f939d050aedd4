//! `mask_golden`: what stands at masked positions has no influence on the others, and those equal the recorded ones.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    graph_padding,
    observation::{at_real_positions, is_per_position, observe},
    sequences::{Sequences, Side, TextFacts, another},
};
use crate::{
    Array, Arrays, ForwardError,
    golden::{Case, Golden},
    tolerance::Tolerance,
};
use testgen_contract::Architecture;

/// Columns of padding beside the longest row.
const PADDING: usize = 5;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    if exam.spec().architecture == Architecture::Graph {
        return graph_padding::mask_golden(exam);
    }
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for facts in exam.streams(&subject, &golden) {
        masked(exam, &subject, &golden, facts, &mut failures)?;
    }
    failures.conclude()?;
    Ok(None)
}

fn masked(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<(), Stop> {
    for case in golden.cases.iter().filter(|case| is_masked(&case.inputs, facts)) {
        compare_recorded(exam, subject, golden, case, facts, failures)?;
        change_masked(exam, subject, golden, &case.inputs, facts, failures)?;
    }
    let Some(made) = made_case(golden, facts) else {
        return Err(Stop::Fail(format!("the golden has no `{}` [batch, seq]", facts.stream.ids())));
    };
    if !mask_matters(exam, subject, golden, &made, facts)? {
        let of = facts.stream.tell();
        failures.push(format!("masked positions{of} have no influence even where the mask lets them through"));
    }
    change_masked(exam, subject, golden, &made, facts, failures)?;
    Ok(())
}

fn is_masked(inputs: &Arrays, facts: TextFacts<'_>) -> bool {
    inputs.get(facts.stream.mask()).and_then(Array::as_integers).is_some_and(|mask| mask.contains(&0))
}

/// Recorded rows behind padding: on the left where a token sees only those before it, because what follows a token could
/// not disturb it there anyway.
fn made_case(golden: &Golden, facts: TextFacts<'_>) -> Option<Arrays> {
    let with_mask = golden.cases.iter().find(|case| case.inputs.contains_key(facts.stream.mask()));
    let rows = Sequences::of_case(with_mask.unwrap_or(golden.main()), facts.stream)?;
    let rows = rows.prefix(facts.longest.saturating_sub(PADDING).max(1));
    let side = if facts.causal { Side::Left } else { Side::Right };
    Some(rows.padded(rows.longest() + PADDING, side, facts))
}

fn compare_recorded(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    case: &Case,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let forward = subject.model().forward(&case.inputs)?;
    let mask = &case.inputs[facts.stream.mask()];
    let tolerance = exam.tolerance(golden, subject);
    let head = subject.model().head();
    let per_position = |name: &str, array: &Array| is_per_position(name, array, facts.stream, mask.shape(), head);
    for (name, expected) in case.outputs.iter().filter(|(name, array)| per_position(name, array)) {
        let Some(got) = forward.outputs.get(name).filter(|got| got.shape() == expected.shape()) else {
            failures.push(format!("`{}` was not computed in its recorded shape", case.tell(name)));
            continue;
        };
        let (expected, got) = (at_real_positions(expected, mask), at_real_positions(got, mask));
        let told = format!("{} at real positions", case.tell(name));
        failures.note(exam.compare(&told, &expected, &got, tolerance.golden(name)));
    }
    Ok(())
}

fn change_masked(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    inputs: &Arrays,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = exam.tolerance(golden, subject);
    let mask = &inputs[facts.stream.mask()];
    let before = observe(subject.model(), facts.stream, inputs)?;
    let after = observe(subject.model(), facts.stream, &with_masked_changed(inputs, facts))?;
    for ((name, expected), (_, got)) in before.positions.iter().zip(&after.positions) {
        let (expected, got) = (at_real_positions(expected, mask), at_real_positions(got, mask));
        let told = format!("{name} with other ids at masked positions{}", facts.stream.tell());
        failures.note(exam.compare(&told, &expected, &got, tolerance.metamorphic(name)));
    }
    let pooled = before.pooled.iter().zip(&after.pooled).filter(|_| facts.pooled_survives_other_ids());
    for ((name, expected), (_, got)) in pooled {
        let told = format!("{name} with other ids at masked positions{}", facts.stream.tell());
        failures.note(exam.compare(&told, expected, got, tolerance.metamorphic(name)));
    }
    Ok(())
}

/// Whether the changed ids are seen once the mask is all ones; else the check would prove nothing.
fn mask_matters(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    inputs: &Arrays,
    facts: TextFacts<'_>,
) -> Result<bool, ForwardError> {
    let mask = inputs[facts.stream.mask()].clone();
    let ones = Array::integers(mask.shape(), vec![1; mask.values().len()]);
    let mut open = with_masked_changed(inputs, facts);
    open.insert(facts.stream.mask().to_owned(), ones);
    let tolerance: Tolerance<'_> = exam.tolerance(golden, subject);
    let (masked, open) =
        (observe(subject.model(), facts.stream, inputs)?, observe(subject.model(), facts.stream, &open)?);
    Ok(masked.positions.iter().zip(&open.positions).any(|((name, one), (_, other))| {
        let (one, other) = (at_real_positions(one, &mask), at_real_positions(other, &mask));
        crate::compare::compare(name, &one, &other, tolerance.metamorphic(name)).failure.is_some()
    }))
}

fn with_masked_changed(inputs: &Arrays, facts: TextFacts<'_>) -> Arrays {
    let mut changed = inputs.clone();
    let (name, mask) = (facts.stream.ids(), &inputs[facts.stream.mask()]);
    let (Some(ids), Some(mask)) = (inputs[name].as_integers(), mask.as_integers()) else { return changed };
    let others = ids.iter().zip(mask).map(|(id, mask)| if *mask == 0 { another(*id, facts) } else { *id }).collect();
    changed.insert(name.to_owned(), Array::integers(inputs[name].shape(), others));
    changed
}
