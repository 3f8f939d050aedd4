//! `mask_golden`: what stands at masked positions has no influence on the others, and those equal the recorded ones.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    observation::{at_real_positions, is_per_position, observe},
    sequences::{Sequences, Side, TextFacts, another},
};
use crate::{
    Array, Arrays, ForwardError,
    golden::{Case, Golden},
    tolerance::Tolerance,
};

/// Columns of padding beside the longest row.
const PADDING: usize = 5;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let facts = exam.text_facts(&subject, &golden);
    let mut failures = Failures::default();
    for case in golden.cases.iter().filter(|case| is_masked(&case.inputs)) {
        compare_recorded(exam, &subject, &golden, case, &mut failures)?;
        change_masked(exam, &subject, &golden, &case.inputs, facts, &mut failures)?;
    }
    let Some(made) = made_case(&golden, facts) else {
        return Err(Stop::Fail("the golden has no `input_ids` [batch, seq]".to_owned()));
    };
    if !mask_matters(exam, &subject, &golden, &made, facts)? {
        failures.push("masked positions have no influence even where the mask lets them through");
    }
    change_masked(exam, &subject, &golden, &made, facts, &mut failures)?;
    failures.conclude()?;
    Ok(None)
}

fn is_masked(inputs: &Arrays) -> bool {
    inputs.get("attention_mask").and_then(Array::as_integers).is_some_and(|mask| mask.contains(&0))
}

/// Recorded rows behind padding: on the left where a token sees only those before it, because what follows a token could
/// not disturb it there anyway.
fn made_case(golden: &Golden, facts: TextFacts) -> Option<Arrays> {
    let with_mask = golden.cases.iter().find(|case| case.inputs.contains_key("attention_mask"));
    let rows = Sequences::of_case(with_mask.unwrap_or(golden.main()))?;
    let rows = rows.prefix(facts.longest.saturating_sub(PADDING).max(1));
    let side = if facts.causal { Side::Left } else { Side::Right };
    Some(rows.padded(rows.longest() + PADDING, side, facts))
}

fn compare_recorded(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    case: &Case,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let forward = subject.model().forward(&case.inputs)?;
    let mask = &case.inputs["attention_mask"];
    let tolerance = exam.tolerance(golden, subject);
    let head = subject.model().head();
    let per_position = |(name, array): &(&String, &Array)| is_per_position(name, array, mask.shape(), head);
    for (name, expected) in case.outputs.iter().filter(per_position) {
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
    facts: TextFacts,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = exam.tolerance(golden, subject);
    let mask = &inputs["attention_mask"];
    let before = observe(subject.model(), inputs)?;
    let after = observe(subject.model(), &with_masked_changed(inputs, facts))?;
    for ((name, expected), (_, got)) in before.positions.iter().zip(&after.positions) {
        let (expected, got) = (at_real_positions(expected, mask), at_real_positions(got, mask));
        let told = format!("{name} with other ids at masked positions");
        failures.note(exam.compare(&told, &expected, &got, tolerance.metamorphic(name)));
    }
    for ((name, expected), (_, got)) in
        before.pooled.iter().zip(&after.pooled).filter(|_| facts.pooled_survives_other_ids())
    {
        let told = format!("{name} with other ids at masked positions");
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
    facts: TextFacts,
) -> Result<bool, ForwardError> {
    let mask = inputs["attention_mask"].clone();
    let ones = Array::integers(mask.shape(), vec![1; mask.values().len()]);
    let mut open = with_masked_changed(inputs, facts);
    open.insert("attention_mask".to_owned(), ones);
    let tolerance: Tolerance<'_> = exam.tolerance(golden, subject);
    let (masked, open) = (observe(subject.model(), inputs)?, observe(subject.model(), &open)?);
    Ok(masked.positions.iter().zip(&open.positions).any(|((name, one), (_, other))| {
        let (one, other) = (at_real_positions(one, &mask), at_real_positions(other, &mask));
        crate::compare::compare(name, &one, &other, tolerance.metamorphic(name)).failure.is_some()
    }))
}

fn with_masked_changed(inputs: &Arrays, facts: TextFacts) -> Arrays {
    let mut changed = inputs.clone();
    let (Some(ids), Some(mask)) = (inputs["input_ids"].as_integers(), inputs["attention_mask"].as_integers()) else {
        return changed;
    };
    let others = ids.iter().zip(mask).map(|(id, mask)| if *mask == 0 { another(*id, facts) } else { *id }).collect();
    changed.insert("input_ids".to_owned(), Array::integers(inputs["input_ids"].shape(), others));
    changed
}
