//! `shape_sweep`: lengths and batch sizes around the tile sizes of GPU kernels agree with a row alone, and for causal models
//! with a prefix of the longest. Of models with experts, what stands behind a close choice is left out and told.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    graphs::{distances_fit, trees},
    observation::observe,
    routing, rows,
    sequences::{Sequences, TextFacts},
};
use crate::{Arrays, ForwardError, golden::Golden};
use testgen_contract::Architecture;

const LENGTHS: [usize; 11] = [1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129];
const BATCHES: [usize; 3] = [1, 3, 5];

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    let note = match exam.spec().architecture {
        Architecture::EncoderOnly
        | Architecture::DecoderOnly
        | Architecture::EncoderDecoder
        | Architecture::Moe
        | Architecture::Rag
        | Architecture::Ssm => text(exam, &subject, &golden, &mut failures)?,
        Architecture::Vision | Architecture::TimeSeries | Architecture::ObjectDetection | Architecture::Diffusion => {
            recorded(exam, &subject, &golden, &mut failures)?
        }
        Architecture::VisionText | Architecture::Multimodal => {
            recorded(exam, &subject, &golden, &mut failures)?;
            text(exam, &subject, &golden, &mut failures)?
        }
        Architecture::Speech => speech(exam, &subject, &golden, &mut failures)?,
        Architecture::Graph => graphs(exam, &subject, &golden, &mut failures)?,
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
    let mut notes = Vec::new();
    for facts in exam.streams(subject, golden) {
        notes.push(lengths(exam, subject, golden, facts, failures)?);
    }
    Ok(notes.join("; "))
}

fn lengths(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    facts: TextFacts<'_>,
    failures: &mut Failures,
) -> Result<String, Stop> {
    let of = facts.stream.tell();
    let lengths: Vec<usize> = LENGTHS.into_iter().filter(|length| *length <= facts.longest).collect();
    let longest = lengths.last().copied().unwrap_or(1);
    let rows = Sequences::generated(BATCHES[BATCHES.len() - 1], longest, facts);
    let mut left_out = 0;
    for &length in &lengths {
        let (inputs, what) = (rows.prefix(length).whole(facts), format!("length {length}{of}"));
        left_out += batches(exam, subject, golden, &inputs, &what, failures)?;
    }
    if facts.causal {
        left_out += prefixes(exam, subject, golden, (&rows, facts), &lengths, failures)?;
    }
    let told = format!("lengths {lengths:?}{of}, batches {BATCHES:?}");
    Ok(match left_out {
        0 => told,
        _ => format!("{told}; {left_out} tokens behind a close choice of experts are not compared"),
    })
}

/// What a decoder writes, in every length; recordings that a head over frames reads, around the recorded lengths.
fn speech(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<String, Stop> {
    let mut note = recorded(exam, subject, golden, failures)?;
    if !golden.target.is_empty() {
        return Ok(format!("{note}; {}", text(exam, subject, golden, failures)?));
    }
    let main = &golden.main().inputs;
    let Some(samples) = main.get("input_values").map(|values| values.shape()[1]) else {
        return Ok(format!("{note}; a spectrogram has one length"));
    };
    for length in [samples - 1, samples - samples / 4, samples / 2 + 1] {
        let order: Vec<usize> = (0..BATCHES[BATCHES.len() - 1]).collect();
        let shorter: Arrays = main.iter().map(|(name, array)| (name.clone(), array.narrow(1, 0, length))).collect();
        batches(exam, subject, golden, &rows::of_inputs(&shorter, &order), &format!("{length} samples"), failures)?;
        note.push_str(&format!(", {length} samples"));
    }
    Ok(note)
}

/// Recorded graphs, and trees with every number of nodes whose distances the model has a table for.
fn graphs(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<String, Stop> {
    let mut note = recorded(exam, subject, golden, failures)?;
    let Some(collator) = subject.model().processor().graphs() else { return Ok(note) };
    for nodes in LENGTHS {
        let trees = trees(golden, nodes, BATCHES[BATCHES.len() - 1]);
        let inputs = collator.process(&trees)?;
        if !trees.is_empty() && distances_fit(subject.model().config(), &inputs) {
            batches(exam, subject, golden, &inputs, &format!("{nodes} nodes"), failures)?;
            note.push_str(&format!(", {nodes} nodes"));
        }
    }
    Ok(note)
}

/// Recorded rows, in batches of every size.
fn recorded(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<String, Stop> {
    for case in &golden.cases {
        let order: Vec<usize> = (0..BATCHES[BATCHES.len() - 1]).collect();
        let inputs = rows::of_inputs(&case.inputs, &order);
        batches(exam, subject, golden, &inputs, &case.name, failures)?;
    }
    Ok(format!("batches {BATCHES:?}"))
}

/// Batches of every size against the rows of the largest, and that one against its rows alone; tells how many tokens are
/// left out.
fn batches(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    inputs: &Arrays,
    what: &str,
    failures: &mut Failures,
) -> Result<usize, ForwardError> {
    let tolerance = exam.tolerance(golden, subject);
    let decided = routing::decisions(exam, subject.model(), inputs)?;
    let mut left_out = 0;
    let largest = subject.model().forward(inputs)?.outputs;
    let last = BATCHES[BATCHES.len() - 1] - 1;
    let parts = BATCHES.iter().rev().skip(1).map(|batch| (0..*batch).collect::<Vec<_>>());
    for order in parts.chain([vec![last]]) {
        let part_inputs = rows::of_inputs(inputs, &order);
        let part = subject.model().forward(&part_inputs)?.outputs;
        let what = format!("{what}, batch {} of {}", order.len(), last + 1);
        let expected = routing::of_part(&decided, |array| array.select_rows(&order));
        let got = routing::decisions(exam, subject.model(), &part_inputs)?;
        let comparable = routing::comparable(exam, (golden, tolerance), &what, [&expected, &got], failures);
        left_out += comparable.left_out();
        for (name, whole) in &largest {
            let told = format!("{name}, {what}");
            let Some(got) = part.get(name) else {
                failures.push(format!("`{told}` was not computed"));
                continue;
            };
            let expected = rows::of_output(name, whole, &order, last + 1);
            let both = [comparable.of(&expected), comparable.of(got)];
            failures.note(exam.compare_runs(&told, (golden, name), both.each_ref().map(|array| &**array), tolerance));
        }
    }
    Ok(left_out)
}

/// Every length against the beginning of the longest; tells how many tokens are left out.
fn prefixes(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    (rows, facts): (&Sequences, TextFacts<'_>),
    lengths: &[usize],
    failures: &mut Failures,
) -> Result<usize, Stop> {
    let tolerance = exam.tolerance(golden, subject);
    let decided = routing::decisions(exam, subject.model(), &rows.whole(facts))?;
    let mut left_out = 0;
    let longest = observe(subject.model(), facts.stream, &rows.whole(facts))?.positions;
    if longest.is_empty() {
        return Err(Stop::Fail("the model gives nothing per position".to_owned()));
    }
    for &length in lengths {
        let inputs = rows.prefix(length).whole(facts);
        let part = observe(subject.model(), facts.stream, &inputs)?.positions;
        let what = format!("length {length} of {}", rows.longest());
        let expected = routing::of_part(&decided, |array| array.narrow(1, 0, length));
        let got = routing::decisions(exam, subject.model(), &inputs)?;
        let comparable = routing::comparable(exam, (golden, tolerance), &what, [&expected, &got], failures);
        left_out += comparable.left_out();
        for ((name, whole), (_, got)) in longest.iter().zip(&part) {
            let (told, expected) = (format!("{name}, {what}"), whole.narrow(1, 0, length));
            let both = [comparable.of(&expected), comparable.of(got)];
            failures.note(exam.compare_runs(&told, (golden, name), both.each_ref().map(|array| &**array), tolerance));
        }
    }
    Ok(left_out)
}
