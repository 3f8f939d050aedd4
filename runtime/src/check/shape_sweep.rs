//! `shape_sweep`: lengths and batch sizes around the tile sizes of GPU kernels agree with a row alone, and for causal models
//! with a prefix of the longest.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    observation::observe,
    sequences::{Sequences, TextFacts},
};
use crate::{Array, Arrays, ForwardError, golden::Golden};
use testgen_contract::Architecture;

const LENGTHS: [usize; 11] = [1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129];
const BATCHES: [usize; 3] = [1, 3, 5];

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    let note = match exam.spec().architecture {
        Architecture::EncoderOnly | Architecture::DecoderOnly | Architecture::Moe | Architecture::Ssm => {
            text(exam, &subject, &golden, &mut failures)?
        }
        Architecture::Vision => images(exam, &subject, &golden, &mut failures)?,
    };
    failures.conclude()?;
    Ok(Some(note))
}

fn text(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<String, Stop> {
    let facts = exam.text_facts(subject, golden);
    let lengths: Vec<usize> = LENGTHS.into_iter().filter(|length| *length <= facts.longest).collect();
    let longest = lengths.last().copied().unwrap_or(1);
    let rows = Sequences::generated(BATCHES[BATCHES.len() - 1], longest, facts);
    for &length in &lengths {
        batches(exam, subject, golden, &rows.prefix(length).whole(facts), &format!("length {length}"), failures)?;
    }
    if facts.causal {
        prefixes(exam, subject, golden, (&rows, facts), &lengths, failures)?;
    }
    Ok(format!("lengths {lengths:?}, batches {BATCHES:?}"))
}

fn images(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<String, Stop> {
    for case in &golden.cases {
        let rows = case.inputs.values().map(|array| array.shape()[0]).min().unwrap_or(1).max(1);
        let order: Vec<usize> = (0..BATCHES[BATCHES.len() - 1]).map(|row| row % rows).collect();
        let inputs = rows_of(&case.inputs, &order);
        batches(exam, subject, golden, &inputs, &case.name, failures)?;
    }
    Ok(format!("batches {BATCHES:?}"))
}

/// Batches of every size against the rows of the largest, and that one against its rows alone.
fn batches(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    inputs: &Arrays,
    what: &str,
    failures: &mut Failures,
) -> Result<(), ForwardError> {
    let tolerance = exam.tolerance(golden, subject);
    let largest = subject.model().forward(inputs)?.outputs;
    let last = BATCHES[BATCHES.len() - 1] - 1;
    let parts = BATCHES.iter().rev().skip(1).map(|batch| (0..*batch).collect::<Vec<_>>());
    for rows in parts.chain([vec![last]]) {
        let part = subject.model().forward(&rows_of(inputs, &rows))?.outputs;
        for (name, whole) in &largest {
            let told = format!("{name}, {what}, batch {} of {}", rows.len(), last + 1);
            let Some(got) = part.get(name) else {
                failures.push(format!("`{told}` was not computed"));
                continue;
            };
            failures.note(exam.compare(&told, &whole.select_rows(&rows), got, tolerance.metamorphic(name)));
        }
    }
    Ok(())
}

/// Every length against the beginning of the longest.
fn prefixes(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    (rows, facts): (&Sequences, TextFacts),
    lengths: &[usize],
    failures: &mut Failures,
) -> Result<(), Stop> {
    let tolerance = exam.tolerance(golden, subject);
    let longest = observe(subject.model(), &rows.whole(facts))?.positions;
    if longest.is_empty() {
        return Err(Stop::Fail("the model gives nothing per position".to_owned()));
    }
    for &length in lengths {
        let part = observe(subject.model(), &rows.prefix(length).whole(facts))?.positions;
        for ((name, whole), (_, got)) in longest.iter().zip(&part) {
            let told = format!("{name}, length {length} of {}", rows.longest());
            let expected = whole.narrow(1, 0, length);
            failures.note(exam.compare(&told, &expected, got, tolerance.metamorphic(name)));
        }
    }
    Ok(())
}

fn rows_of(inputs: &Arrays, rows: &[usize]) -> Arrays {
    inputs.iter().map(|(name, array): (&String, &Array)| (name.clone(), array.select_rows(rows))).collect()
}
