//! `kv_cache_equivalence`: reading a sequence with the cache, step by step or in chunks, equals reading it at once; also after
//! a reset, and after left padding.
//!
//! Only the first step of an encoder-decoder gets the encoder's input, so that later steps must take its keys and values from
//! the cache. Before the first comparison the session reads another source, so that keys and values that survive a reset are
//! detected.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    check_run::{CheckRun, SubjectUnderTest},
    outcome::{Abort, CheckResult, Failures},
    outputs_by_position::{forward_by_position, one_row_per_input},
    padding::at_real_positions,
    sequences::{PaddedSide, Sequences, TextFacts},
    stream::TokenSequence,
};
use crate::golden::Golden;
use testgen_models::Model;
use testgen_nn::{
    array::{Array, Arrays},
    forward::{ForwardError, Session},
};
use testgen_types::Architecture;

/// Columns of padding before the longest row.
const LEFT: usize = 2;

/// Inputs that are read with and without a cache.
pub(super) struct CachedInput {
    pub(super) label: &'static str,
    pub(super) arrays: Arrays,
}

/// The lengths of the steps in which a sequence is read.
struct Schedule {
    label: &'static str,
    steps: Vec<usize>,
}

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(Fault::WrongChunk, "a chunk after a cache is wrong", "in chunks");

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    if let Some(reason) = inapplicable(tested.model().class()) {
        return Err(Abort::Skip(reason));
    }
    has_cache(run.spec().architecture, tested.model())?;
    let facts = run.text_facts(&tested, &golden);
    let mut failures = Failures::default();
    for CachedInput { label: input, arrays } in inputs(&golden, facts)? {
        let whole = forward_by_position(run, &tested, facts.stream, &arrays)?.positions;
        let mut session = tested.model().session()?;
        let length = arrays[facts.stream.ids()].shape()[1];
        if facts.stream.other_arguments().is_some() {
            advance_in_steps(session.as_mut(), facts.stream, &with_another_source(&arrays, facts), &[1])?;
            session.reset();
        }
        for Schedule { label: schedule, steps } in schedules(length) {
            let what = format!("{input}, {schedule}");
            let stepped = advance_in_steps(session.as_mut(), facts.stream, &arrays, &steps)?;
            let results = CacheResults { whole: &whole, stepped: &stepped, mask: &arrays[facts.stream.mask()] };
            results.compare(run, &tested, &golden, &what, &mut failures);
            if session.length() != length {
                let found = session.length();
                failures.push(format!("{what}: the session reports {found} tokens after reading {length}"));
            }
            session.reset();
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Skips a model that itself reports that it has no cache, in the architectures where some have none: heads over audio frames,
/// and classifiers with an encoder and a decoder.
pub(super) fn has_cache(architecture: Architecture, model: &Model) -> Result<(), Abort> {
    let some_have_none = matches!(architecture, Architecture::Speech | Architecture::EncoderDecoder);
    match model.session() {
        Err(error @ ForwardError::NoCache { .. }) if some_have_none => Err(Abort::Skip(error.to_string())),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

/// Why a class has no cache: a classifier of a causal architecture reads the whole text at once.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    let classifier = ["ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"];
    let found = classifier.iter().any(|end| class.ends_with(end));
    found.then(|| format!("`{class}` reads the whole text at once and has no cache"))
}

/// The longest recorded rows without padding, and the rows of the first case with left padding.
pub(super) fn inputs(golden: &Golden, facts: TextFacts<'_>) -> Result<Vec<CachedInput>, Abort> {
    let none = || Abort::Fail(format!("the golden has no `{}` [batch, seq]", facts.stream.ids()));
    let longest = facts.longest - LEFT;
    let recorded = golden.cases.iter().filter_map(|case| Sequences::of_case(case, facts.stream));
    let recorded: Vec<Sequences> = recorded.map(|rows| rows.prefix(longest)).collect();
    let longest = recorded.iter().max_by_key(|rows| rows.longest()).ok_or_else(none)?;
    let width = longest.longest();
    // Without padding, rows of one batch have to be equally long.
    let equal = Sequences(longest.0.iter().filter(|row| row.len() == width).cloned().collect());
    let uneven = recorded.first().ok_or_else(none)?;
    let padded = uneven.padded(uneven.longest() + LEFT, PaddedSide::Left, facts);
    Ok(vec![
        CachedInput { label: "unpadded", arrays: equal.unpadded(facts) },
        CachedInput { label: "padded left", arrays: padded },
    ])
}

/// The same tokens with the source of the next row.
fn with_another_source(inputs: &Arrays, facts: TextFacts<'_>) -> Arrays {
    let mut inputs = inputs.clone();
    for (name, array) in facts.stream.other_arguments().into_iter().flatten() {
        let rows = inputs[facts.stream.ids()].shape()[0];
        let others: Vec<usize> = (1..=rows).map(|row| row % array.shape()[0].max(1)).collect();
        inputs.insert(name.clone(), array.select_rows(&others));
    }
    inputs
}

/// How a sequence of `length` tokens is read; the session is reset after each schedule.
fn schedules(length: usize) -> Vec<Schedule> {
    // Chunks after a cache need a mask that is neither square nor a single row, and a chunk of one between two larger ones
    // switches between the kernels for both.
    let mut chunks = vec![3, 1, 5];
    let used: usize = chunks.iter().sum();
    chunks.push(length.saturating_sub(used));
    let chunks = if used < length { chunks } else { vec![1, length - 1] };
    vec![
        Schedule { label: "step by step", steps: vec![1; length] },
        Schedule { label: "in chunks", steps: chunks },
        Schedule { label: "at once into the cache", steps: vec![length] },
        Schedule { label: "step by step after a reset", steps: vec![1; length] },
    ]
}

/// The outputs of all steps, concatenated along the sequence.
pub(super) fn advance_in_steps(
    session: &mut dyn Session,
    stream: TokenSequence<'_>,
    inputs: &Arrays,
    steps: &[usize],
) -> Result<Arrays, ForwardError> {
    let mut outputs: Vec<Arrays> = Vec::new();
    let mut start = 0;
    for &step in steps.iter().filter(|step| **step > 0) {
        let part = |name: &str, from: usize, length: usize| inputs.get(name).map(|array| array.narrow(1, from, length));
        let named = [
            (stream.ids(), part(stream.ids(), start, step)),
            // As in transformers, the mask covers the cached positions, too.
            (stream.mask(), part(stream.mask(), 0, start + step)),
            ("position_ids", part("position_ids", start, step)),
        ];
        let named = named.into_iter().filter_map(|(name, array)| Some((name.to_owned(), array?)));
        let mut step_inputs = other_arguments(stream, inputs, start == 0);
        step_inputs.extend(named);
        let shape = step_inputs[stream.ids()].shape().to_vec();
        outputs.push(one_row_per_input(session.advance(&step_inputs)?.outputs, &shape));
        start += step;
    }
    Ok(concatenated(&outputs))
}

/// The arguments of the encoder: in the first step all, later only the mask, which cross-attention reads in every step.
fn other_arguments(stream: TokenSequence<'_>, inputs: &Arrays, first: bool) -> Arrays {
    let names = stream.other_arguments().into_iter().flatten().map(|(name, _)| name);
    let passed = names.filter(|name| first || *name == "attention_mask");
    passed.filter_map(|name| Some((name.clone(), inputs.get(name)?.clone()))).collect()
}

/// Concatenates along dimension 1.
fn concatenated(parts: &[Arrays]) -> Arrays {
    let Some(first) = parts.first() else { return Arrays::new() };
    first
        .keys()
        .map(|name| (name.clone(), concatenate(&parts.iter().filter_map(|part| part.get(name)).collect::<Vec<_>>())))
        .collect()
}

fn concatenate(parts: &[&Array]) -> Array {
    let shape = parts[0].shape();
    let (batch, rest) = (shape[0], &shape[2..]);
    let inner: usize = rest.iter().product();
    let mut values = Vec::new();
    for row in 0..batch {
        for part in parts {
            let width = part.shape()[1] * inner;
            values.extend_from_slice(&part.as_floats().unwrap_or_default()[row * width..(row + 1) * width]);
        }
    }
    let seq = parts.iter().map(|part| part.shape()[1]).sum();
    let shape: Vec<usize> = [batch, seq].into_iter().chain(rest.iter().copied()).collect();
    Array::floats(shape, values)
}

/// The outputs of both ways to read a sequence.
struct CacheResults<'a> {
    whole: &'a [(String, Array)],
    stepped: &'a Arrays,
    mask: &'a Array,
}

impl CacheResults<'_> {
    /// Compares at real positions only: a padding token before the text sees no token at all, and what it computes is
    /// arbitrary and never read.
    fn compare(
        &self,
        run: &mut CheckRun<'_>,
        tested: &SubjectUnderTest,
        golden: &Golden,
        what: &str,
        failures: &mut Failures,
    ) {
        let tolerance = run.tolerance(golden, tested);
        for (name, expected) in self.whole {
            let label = format!("{name} {what}");
            let Some(got) = self.stepped.get(name).filter(|got| got.shape() == expected.shape()) else {
                failures.push(format!("`{label}` was not computed in the shape {:?}", expected.shape()));
                continue;
            };
            let (expected, got) = (at_real_positions(expected, self.mask), at_real_positions(got, self.mask));
            failures.extend(run.compare(&label, &expected, &got, tolerance.metamorphic(name)));
        }
    }
}

#[cfg(test)]
mod tests;
