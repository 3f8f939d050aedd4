//! `kv_cache_equivalence`: step by step with the cache equals the whole sequence at once, also in chunks, after a reset,
//! and behind left padding.
//!
//! Only the first step of an encoder-decoder has the encoder's input, so that its keys and values must come from the cache;
//! before the first way the session reads another source, so that keys and values which outlive a reset show.

use super::{
    Examination, Failures, Found, Stop,
    examination::Subject,
    observation::{at_real_positions, by_rows, observe},
    sequences::{Sequences, Side, Stream, TextFacts},
};
use crate::{Array, Arrays, ForwardError, Model, Session, golden::Golden};
use testgen_contract::Architecture;

/// Columns of padding before the longest row.
const LEFT: usize = 2;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    if let Some(reason) = inapplicable(subject.model().class()) {
        return Err(Stop::Ignored(reason));
    }
    has_cache(exam.spec().architecture, subject.model())?;
    let facts = exam.text_facts(&subject, &golden);
    let mut failures = Failures::default();
    for (what, inputs) in inputs(&golden, facts)? {
        let whole = observe(subject.model(), facts.stream, &inputs)?.positions;
        let mut session = subject.model().session()?;
        let length = inputs[facts.stream.ids()].shape()[1];
        if facts.stream.beside().is_some() {
            advance_in(session.as_mut(), facts.stream, &of_another_source(&inputs, facts), &[1])?;
            session.reset();
        }
        for (how, chunks) in ways(length) {
            let stepped = advance_in(session.as_mut(), facts.stream, &inputs, &chunks)?;
            let pair = Pair { whole: &whole, stepped: &stepped, mask: &inputs[facts.stream.mask()] };
            compare(exam, &subject, &golden, &format!("{what}, {how}"), pair, &mut failures);
            if session.length() != length {
                failures.push(format!("{what}, {how}: the session says {} tokens of {length}", session.length()));
            }
            session.reset();
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Leaves a model alone that says itself that it keeps no cache, in the families where some rightly do: heads over frames, and
/// classifiers with an encoder and a decoder.
pub(super) fn has_cache(architecture: Architecture, model: &Model) -> Result<(), Stop> {
    let some_have_none = matches!(architecture, Architecture::Speech | Architecture::EncoderDecoder);
    match model.session() {
        Err(error @ ForwardError::NoCache { .. }) if some_have_none => Err(Stop::Ignored(error.to_string())),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

/// Why a class has no cache to check: a classifier of a causal family reads the whole text at once.
pub(super) fn inapplicable(class: &str) -> Option<String> {
    let classifier = ["ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"];
    let found = classifier.iter().any(|end| class.ends_with(end));
    found.then(|| format!("`{class}` reads the whole text at once and keeps no cache"))
}

/// The longest recorded rows without padding, and all recorded rows behind left padding.
fn inputs(golden: &Golden, facts: TextFacts<'_>) -> Result<Vec<(&'static str, Arrays)>, Stop> {
    let none = || Stop::Fail(format!("the golden has no `{}` [batch, seq]", facts.stream.ids()));
    let longest = facts.longest - LEFT;
    let recorded = golden.cases.iter().filter_map(|case| Sequences::of_case(case, facts.stream));
    let recorded: Vec<Sequences> = recorded.map(|rows| rows.prefix(longest)).collect();
    let longest = recorded.iter().max_by_key(|rows| rows.longest()).ok_or_else(none)?;
    let width = longest.longest();
    let whole = Sequences(longest.0.iter().filter(|row| row.len() == width).cloned().collect());
    let uneven = recorded.first().ok_or_else(none)?;
    let padded = uneven.padded(uneven.longest() + LEFT, Side::Left, facts);
    Ok(vec![("unpadded", whole.whole(facts)), ("padded left", padded)])
}

/// The same tokens beside another row's source.
fn of_another_source(inputs: &Arrays, facts: TextFacts<'_>) -> Arrays {
    let mut inputs = inputs.clone();
    for (name, array) in facts.stream.beside().into_iter().flatten() {
        let rows = inputs[facts.stream.ids()].shape()[0];
        let others: Vec<usize> = (1..=rows).map(|row| row % array.shape()[0].max(1)).collect();
        inputs.insert(name.clone(), array.select_rows(&others));
    }
    inputs
}

/// The sizes of the steps; each way starts after a reset of the one before.
fn ways(length: usize) -> Vec<(&'static str, Vec<usize>)> {
    let mut chunks = vec![3, 1, 5];
    let used: usize = chunks.iter().sum();
    chunks.push(length.saturating_sub(used));
    let chunks = if used < length { chunks } else { vec![1, length - 1] };
    vec![
        ("step by step", vec![1; length]),
        ("in chunks", chunks),
        ("at once into the cache", vec![length]),
        ("step by step after a reset", vec![1; length]),
    ]
}

/// The outputs of every step, joined along the sequence.
fn advance_in(
    session: &mut dyn Session,
    stream: Stream<'_>,
    inputs: &Arrays,
    steps: &[usize],
) -> Result<Arrays, ForwardError> {
    let mut joined: Vec<Arrays> = Vec::new();
    let mut start = 0;
    for &step in steps.iter().filter(|step| **step > 0) {
        let part = |name: &str, from: usize, length: usize| inputs.get(name).map(|array| array.narrow(1, from, length));
        let named = [
            (stream.ids(), part(stream.ids(), start, step)),
            (stream.mask(), part(stream.mask(), 0, start + step)),
            ("position_ids", part("position_ids", start, step)),
        ];
        let named = named.into_iter().filter_map(|(name, array)| Some((name.to_owned(), array?)));
        let mut step_inputs = beside(stream, inputs, start == 0);
        step_inputs.extend(named);
        let shape = step_inputs[stream.ids()].shape().to_vec();
        joined.push(by_rows(session.advance(&step_inputs)?.outputs, &shape));
        start += step;
    }
    Ok(join(&joined))
}

/// What is given beside the tokens: in the first step everything, later only what is masked.
fn beside(stream: Stream<'_>, inputs: &Arrays, first: bool) -> Arrays {
    let names = stream.beside().into_iter().flatten().map(|(name, _)| name);
    let given = names.filter(|name| first || *name == "attention_mask");
    given.filter_map(|name| Some((name.clone(), inputs.get(name)?.clone()))).collect()
}

/// Joins along dimension 1.
fn join(parts: &[Arrays]) -> Arrays {
    let Some(first) = parts.first() else { return Arrays::new() };
    first
        .keys()
        .map(|name| (name.clone(), cat(&parts.iter().filter_map(|part| part.get(name)).collect::<Vec<_>>())))
        .collect()
}

fn cat(parts: &[&Array]) -> Array {
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

/// Both results, and where they count: behind padding a row that sees nothing is nobody's business.
struct Pair<'a> {
    whole: &'a [(String, Array)],
    stepped: &'a Arrays,
    mask: &'a Array,
}

fn compare(
    exam: &mut Examination<'_>,
    subject: &Subject,
    golden: &Golden,
    what: &str,
    pair: Pair<'_>,
    failures: &mut Failures,
) {
    let tolerance = exam.tolerance(golden, subject);
    for (name, expected) in pair.whole {
        let told = format!("{name} {what}");
        let Some(got) = pair.stepped.get(name).filter(|got| got.shape() == expected.shape()) else {
            failures.push(format!("`{told}` was not computed in the shape {:?}", expected.shape()));
            continue;
        };
        let (expected, got) = (at_real_positions(expected, pair.mask), at_real_positions(got, pair.mask));
        failures.note(exam.compare(&told, &expected, &got, tolerance.metamorphic(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_joined_along_the_sequence() {
        let array = |shape: [usize; 3], values: &[f32]| Array::floats(shape, values.to_vec());
        let one = array([2, 1, 2], &[1.0, 2.0, 5.0, 6.0]);
        let two = array([2, 2, 2], &[3.0, 4.0, 3.5, 4.5, 7.0, 8.0, 7.5, 8.5]);
        let joined = cat(&[&one, &two]);
        assert_eq!(joined.shape(), [2, 3, 2]);
        assert_eq!(joined.narrow(1, 0, 1), one);
        assert_eq!(joined.narrow(1, 1, 2), two);
    }

    #[test]
    fn every_way_reads_the_whole_sequence() {
        for length in [1, 2, 9, 10, 33] {
            for (how, steps) in ways(length) {
                assert_eq!(steps.iter().sum::<usize>(), length, "{how} {length}");
            }
        }
    }
}
