//! The results of one call, sorted into those with one entry per position of the sequence and the pooled ones.

use super::sequences::Stream;
use crate::{Array, Arrays, Forward, ForwardError, Model, model::Head};

/// What a call gave.
pub(super) struct Observation {
    /// [batch, seq, ...], by name.
    pub(super) positions: Vec<(String, Array)>,
    /// [batch, ...] without the sequence, by name.
    pub(super) pooled: Vec<(String, Array)>,
}

/// Runs `inputs`; where no output is per position of `stream` (a classifier), the hidden states are.
pub(super) fn observe(model: &Model, stream: Stream<'_>, inputs: &Arrays) -> Result<Observation, ForwardError> {
    let shape = inputs.get(stream.ids()).map(|ids| ids.shape().to_vec()).unwrap_or_default();
    let mut observation = sort(model.forward(inputs)?, stream, &shape, model.head());
    if observation.positions.is_empty() {
        observation.positions = traced(model.forward_traced(inputs)?, stream, &shape, model.head());
    }
    Ok(observation)
}

fn sort(forward: Forward, stream: Stream<'_>, ids: &[usize], head: Head) -> Observation {
    let per_position = |(name, array): &(String, Array)| is_per_position(name, array, stream, ids, head);
    let (positions, pooled) = by_rows(forward.outputs, ids).into_iter().partition(per_position);
    Observation { positions, pooled }
}

fn traced(forward: Forward, stream: Stream<'_>, ids: &[usize], head: Head) -> Vec<(String, Array)> {
    let named = forward.trace.into_iter().map(|(name, array)| (format!("trace.{name}"), array));
    named.filter(|(name, array)| is_per_position(name, array, stream, ids, head)).collect()
}

/// The outputs of a call whose ids have the shape `ids`, with the entries of a row together: see [`by_row`].
pub(super) fn by_rows(outputs: Arrays, ids: &[usize]) -> Arrays {
    let grouped = |(name, array): (String, Array)| {
        let array = by_row(&name, &array, ids).unwrap_or(array);
        (name, array)
    };
    outputs.into_iter().map(grouped).collect()
}

/// `logits` [batch * several, seq, vocab] as [batch, seq, several * vocab]; none where each row has one.
fn by_row(name: &str, array: &Array, ids: &[usize]) -> Option<Array> {
    let (&[rows, seq, vocab], &[batch, columns]) = (array.shape(), ids) else { return None };
    if name != "logits" || batch == 0 || rows <= batch || rows % batch != 0 || seq != columns {
        return None;
    }
    let (several, values) = (rows / batch, array.as_floats()?);
    let place = |row: usize, at: usize| (row * seq + at) * vocab..(row * seq + at + 1) * vocab;
    let entry = |row, at| (0..several).flat_map(move |each| values[place(row * several + each, at)].iter().copied());
    let moved = (0..batch).flat_map(|row| (0..seq).flat_map(move |at| entry(row, at)));
    Some(Array::floats([batch, seq, several * vocab], moved.collect()))
}

/// Two dimensions alone cannot tell positions from labels, so those outputs are known by name; `logits` of two dimensions are
/// per position where the head is ELECTRA's discriminator, the only one for pre-training that has them.
pub(super) fn is_per_position(name: &str, array: &Array, stream: Stream<'_>, ids: &[usize], head: Head) -> bool {
    let shape = array.shape();
    let known = matches!(name, "start_logits" | "end_logits") || (name == "logits" && head == Head::PreTraining);
    let named = shape.len() == 2 && known;
    stream.owns(name) && (shape.len() == 3 || named) && ids.len() == 2 && shape[..2] == *ids
}

/// The entries where `mask` [batch, seq] is not zero: [batch, seq, ...] becomes [real, ...].
pub(super) fn at_real_positions(array: &Array, mask: &Array) -> Array {
    let (shape, rest) = array.shape().split_at(2);
    let mut flat_shape = vec![shape[0] * shape[1]];
    flat_shape.extend(rest);
    let real = mask.as_integers().unwrap_or_default().iter().enumerate().filter(|(_, value)| **value != 0);
    let rows: Vec<usize> = real.map(|(index, _)| index).collect();
    let values = array.as_floats().unwrap_or_default().to_vec();
    Array::floats(flat_shape, values).select_rows(&rows)
}
