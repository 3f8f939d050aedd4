//! Sequences that are read with a key-value cache, in steps: for checks that compare them with the
//! whole sequence, or among implementations.

use super::{
    super::{
        inputs::{
            sequences::Sequences,
            stream::TokenSequence,
            text_facts::{PaddedSide, TextFacts},
        },
        run::Abort,
    },
    outputs_by_position::one_row_per_input,
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
pub(in crate::check) struct CachedInput {
    pub(in crate::check) label: &'static str,
    pub(in crate::check) arrays: Arrays,
}

impl CachedInput {
    /// The longest recorded rows without padding, and the rows of the first case with left padding.
    pub(in crate::check) fn recorded(
        golden: &Golden,
        facts: TextFacts<'_>,
    ) -> Result<Vec<CachedInput>, Abort> {
        Abort::skip_if(facts.too_short_for(LEFT + 1))?;
        // The columns of padding are within the model's positions, too.
        let longest = facts.longest - LEFT;
        let recorded = golden
            .cases
            .iter()
            .filter_map(|case| Sequences::of_case(case, facts.stream));
        let recorded: Vec<Sequences> = recorded.map(|rows| rows.prefix(longest)).collect();
        let longest = recorded.iter().max_by_key(|rows| rows.longest());
        let (Some(uneven), Some(longest)) = (recorded.first(), longest) else {
            return Err(Abort::Fail(format!(
                "the golden has no `{}` [batch, seq]",
                facts.stream.ids()
            )));
        };
        let width = longest.longest();
        // Without padding, rows of one batch have to be equally long.
        let equal = Sequences(
            longest
                .0
                .iter()
                .filter(|row| row.len() == width)
                .cloned()
                .collect(),
        );
        let padded = uneven.padded(uneven.longest() + LEFT, PaddedSide::Left, facts);
        Ok(vec![
            CachedInput {
                label: "unpadded",
                arrays: equal.unpadded(facts),
            },
            CachedInput {
                label: "padded left",
                arrays: padded,
            },
        ])
    }
}

/// Skips a model that itself reports that it has no cache, in the architectures where some have
/// none: heads over audio frames, and classifiers with an encoder and a decoder.
pub(in crate::check) fn has_cache(architecture: Architecture, model: &Model) -> Result<(), Abort> {
    let some_have_none = matches!(
        architecture,
        Architecture::Speech | Architecture::EncoderDecoder
    );
    match model.session() {
        Err(error @ ForwardError::NoCache { .. }) if some_have_none => {
            Err(Abort::Skip(error.to_string()))
        }
        Err(error) => Err(error.into()),
        Ok(_) => Ok(()),
    }
}

/// Why a class has no cache.
pub(in crate::check) fn class_without_cache(class: &str) -> Option<String> {
    let classifier = [
        "ForSequenceClassification",
        "ForTokenClassification",
        "ForQuestionAnswering",
    ];
    // A classifier of a causal architecture reads the whole text at once.
    let found = classifier.iter().any(|end| class.ends_with(end));
    found.then(|| format!("`{class}` reads the whole text at once and has no cache"))
}

/// The outputs of all steps, concatenated along the sequence.
pub(in crate::check) fn advance_in_steps(
    session: &mut dyn Session,
    stream: TokenSequence<'_>,
    inputs: &Arrays,
    steps: &[usize],
) -> Result<Arrays, ForwardError> {
    let mut outputs: Vec<Arrays> = Vec::new();
    let mut start = 0;
    for &step in steps.iter().filter(|step| **step > 0) {
        let part = |name: &str, from: usize, length: usize| {
            inputs.get(name).map(|array| array.narrow(1, from, length))
        };
        let named = [
            (stream.ids(), part(stream.ids(), start, step)),
            // As in transformers, the mask covers the cached positions, too.
            (stream.mask(), part(stream.mask(), 0, start + step)),
            ("position_ids", part("position_ids", start, step)),
        ];
        let named = named
            .into_iter()
            .filter_map(|(name, array)| Some((name.to_owned(), array?)));
        let mut step_inputs = other_arguments(stream, inputs, start == 0);
        step_inputs.extend(named);
        let shape = step_inputs[stream.ids()].shape().to_vec();
        outputs.push(one_row_per_input(
            session.advance(&step_inputs)?.outputs,
            &shape,
        ));
        start += step;
    }
    Ok(concatenated(&outputs))
}

/// The arguments of the encoder: in the first step all, later only the mask.
fn other_arguments(stream: TokenSequence<'_>, inputs: &Arrays, first: bool) -> Arrays {
    let names = stream
        .other_arguments()
        .into_iter()
        .flatten()
        .map(|(name, _)| name);
    // Cross-attention reads the mask in every step.
    let passed = names.filter(|name| first || *name == "attention_mask");
    passed
        .filter_map(|name| Some((name.clone(), inputs.get(name)?.clone())))
        .collect()
}

/// Concatenates along dimension 1.
fn concatenated(parts: &[Arrays]) -> Arrays {
    let Some(first) = parts.first() else {
        return Arrays::new();
    };
    first
        .keys()
        .map(|name| {
            (
                name.clone(),
                concatenate(
                    &parts
                        .iter()
                        .filter_map(|part| part.get(name))
                        .collect::<Vec<_>>(),
                ),
            )
        })
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
            values.extend_from_slice(
                &part.as_floats().unwrap_or_default()[row * width..(row + 1) * width],
            );
        }
    }
    let seq = parts.iter().map(|part| part.shape()[1]).sum();
    let shape: Vec<usize> = [batch, seq]
        .into_iter()
        .chain(rest.iter().copied())
        .collect();
    Array::floats(shape, values)
}

#[cfg(test)]
mod tests;
