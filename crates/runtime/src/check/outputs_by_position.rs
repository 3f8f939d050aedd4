//! The outputs of a call, split into those with one entry per position of the sequence and the pooled ones.

use super::{
    check_run::{CheckRun, ModelUnderTest},
    stream::Stream,
};
use crate::engine::CheckEngine;
use testgen_engine::Feature;
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError},
};
use testgen_types::Head;

/// The outputs of one call.
pub(super) struct OutputsByPosition {
    /// [batch, seq, ...], by name.
    pub(super) positions: Vec<(String, Array)>,
    /// [batch, ...] without the sequence, by name.
    pub(super) pooled: Vec<(String, Array)>,
}

/// The dimensions by which positions of a call are recognised.
#[derive(Clone, Copy)]
pub(super) struct Positions<'a> {
    pub(super) stream: Stream<'a>,
    /// The shape of the ids, [batch, seq].
    pub(super) shape: &'a [usize],
    pub(super) head: Head,
}

/// Runs `inputs`. If no output has an entry per position of `stream`, as in a classifier, the hidden states are used instead.
pub(super) fn forward_by_position(
    run: &CheckRun<'_>,
    tested: &ModelUnderTest,
    stream: Stream<'_>,
    inputs: &Arrays,
) -> Result<OutputsByPosition, ForwardError> {
    let model = tested.model();
    let shape = inputs.get(stream.ids()).map(Array::shape).unwrap_or_default();
    let of = Positions { stream, shape, head: model.head() };
    let mut outputs = split(model.forward(inputs)?, of);
    if outputs.positions.is_empty() {
        if let Some(reason) = tested.lacks(Feature::HiddenStates) {
            // A failure without wrong numbers is not the model's then.
            run.engine.set_unsupported(reason);
        }
        outputs.positions = hidden_states(model.forward_traced(inputs)?, of);
    }
    Ok(outputs)
}

fn split(forward: Forward, of: Positions<'_>) -> OutputsByPosition {
    let per_position = |(name, array): &(String, Array)| of.has(name, array);
    let (positions, pooled) = one_row_per_input(forward.outputs, of.shape).into_iter().partition(per_position);
    OutputsByPosition { positions, pooled }
}

fn hidden_states(forward: Forward, of: Positions<'_>) -> Vec<(String, Array)> {
    let named = forward.trace.into_iter().map(|(name, array)| (format!("trace.{name}"), array));
    named.filter(|(name, array)| of.has(name, array)).collect()
}

/// The outputs of a call whose ids have the shape `ids`, with one row per row of ids.
///
/// A generator with retrieval computes logits for each passage of a question: [batch * passages, seq, vocab] becomes
/// [batch, seq, passages * vocab], so that rows and positions can be compared like those of other models.
pub(super) fn one_row_per_input(outputs: Arrays, ids: &[usize]) -> Arrays {
    let grouped = |(name, array): (String, Array)| {
        let array = group_passages(&name, &array, ids).unwrap_or(array);
        (name, array)
    };
    outputs.into_iter().map(grouped).collect()
}

/// None where there is one row per row of ids already.
fn group_passages(name: &str, array: &Array, ids: &[usize]) -> Option<Array> {
    let (&[rows, seq, vocab], &[batch, columns]) = (array.shape(), ids) else { return None };
    if name != "logits" || batch == 0 || rows <= batch || rows % batch != 0 || seq != columns {
        return None;
    }
    let (passages, values) = (rows / batch, array.as_floats()?);
    let span = |row: usize, column: usize| (row * seq + column) * vocab..(row * seq + column + 1) * vocab;
    let entry = |row, column| {
        (0..passages).flat_map(move |passage| values[span(row * passages + passage, column)].iter().copied())
    };
    let moved = (0..batch).flat_map(|row| (0..seq).flat_map(move |column| entry(row, column)));
    Some(Array::floats([batch, seq, passages * vocab], moved.collect()))
}

impl Positions<'_> {
    /// Whether the output or hidden state `name` has one entry per position.
    pub(super) fn has(&self, name: &str, array: &Array) -> bool {
        let shape = array.shape();
        // By its shape alone, [batch, seq] is not distinguishable from [batch, labels], so these outputs are known by name. Of the heads for
        // pre-training only ELECTRA's discriminator has logits of two dimensions, and those are per position.
        let known =
            matches!(name, "start_logits" | "end_logits") || (name == "logits" && self.head == Head::PreTraining);
        let named = shape.len() == 2 && known;
        self.stream.owns(name) && (shape.len() == 3 || named) && self.shape.len() == 2 && shape[..2] == *self.shape
    }
}

/// Recorded and computed outputs without the positions of padding, where an engine computes; none where that changes nothing.
///
/// Padding that sees no token, as outside of a sliding window, has arbitrary outputs, which nothing reads: eager attention of
/// transformers computes the mean of all values there, as the native models do, and its `sdpa` zeros.
pub(super) fn defined(engine: &CheckEngine, inputs: &Arrays, expected: &Array, got: &Array) -> Option<[Array; 2]> {
    engine.process_name()?;
    let (ids, mask) = (inputs.get("input_ids")?, inputs.get("attention_mask")?);
    // The padding of an encoder-decoder is after its texts, and sees the first token.
    let of_tokens = ids.shape() == mask.shape() && !inputs.contains_key("decoder_input_ids");
    let by_position = expected.shape().starts_with(mask.shape()) && expected.shape() == got.shape();
    let padded = mask.as_integers()?.contains(&0);
    let floats = expected.as_floats().is_some() && got.as_floats().is_some();
    (of_tokens && by_position && padded && floats).then(|| [expected, got].map(|array| at_real_positions(array, mask)))
}

/// `got` with what `expected` has at the positions of padding, so that these are not compared; see [`defined`].
pub(super) fn with_padding_of(engine: &CheckEngine, inputs: &Arrays, expected: &Array, got: &Array) -> Array {
    let (Some(_), Some(mask)) = (defined(engine, inputs, expected, got), inputs.get("attention_mask")) else {
        return got.clone();
    };
    let (Some(expected), Some(values), Some(mask)) = (expected.as_floats(), got.as_floats(), mask.as_integers()) else {
        return got.clone();
    };
    let width = values.len() / mask.len().max(1);
    let value =
        |(index, (expected, got)): (usize, (&f32, &f32))| if mask[index / width] == 0 { *expected } else { *got };
    Array::floats(got.shape().to_vec(), expected.iter().zip(values).enumerate().map(value).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(shape: &[usize], first: u8) -> Array {
        Array::floats(shape, (first..).take(shape.iter().product()).map(f32::from).collect())
    }

    #[test]
    fn passages_of_a_question_become_one_row() {
        let grouped = group_passages("logits", &counted(&[4, 2, 2], 0), &[2, 2]);
        let values = [0_u8, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15].map(f32::from);
        assert_eq!(grouped, Some(Array::floats([2, 2, 4], values.to_vec())));
    }

    #[test]
    fn only_logits_of_several_whole_rows_per_question_are_grouped() {
        let unchanged: [(&str, &[usize], &[usize]); 7] = [
            ("probabilities", &[4, 2, 2], &[2, 2]),
            ("logits", &[4, 2, 2], &[0, 2]),
            ("logits", &[2, 2, 2], &[2, 2]),
            ("logits", &[0, 2, 2], &[2, 2]),
            ("logits", &[5, 2, 2], &[2, 2]),
            ("logits", &[4, 2, 2], &[2, 3]),
            ("logits", &[4, 2], &[2, 2]),
        ];
        for (name, shape, ids) in unchanged {
            assert_eq!(group_passages(name, &counted(shape, 0), ids), None, "{name} {shape:?} {ids:?}");
        }
    }

    #[test]
    fn outputs_per_position_are_recognised_by_shape_and_name() {
        let has = |name: &str, shape: &[usize], head: Head| {
            Positions { stream: Stream::Text, shape: &[2, 3], head }.has(name, &counted(shape, 0))
        };
        assert!(has("last_hidden_state", &[2, 3, 4], Head::Base));
        assert!(!has("last_hidden_state", &[2, 4, 3], Head::Base));
        assert!(!has("pooler_output", &[2, 3], Head::PreTraining), "a pooled output may have that shape, too");
        for name in ["start_logits", "end_logits"] {
            assert!(has(name, &[2, 3], Head::QuestionAnswering));
            assert!(!has(name, &[2, 4], Head::QuestionAnswering));
        }
        assert!(has("logits", &[2, 3], Head::PreTraining));
        assert!(!has("logits", &[2, 3], Head::SequenceClassification), "three labels are not three positions");
        let of_no_text = Positions { stream: Stream::Text, shape: &[], head: Head::Base };
        assert!(!of_no_text.has("last_hidden_state", &counted(&[2, 3, 4], 0)));
    }

    /// Inputs of a text of two tokens with padding between them.
    fn padded() -> Arrays {
        Arrays::from([
            ("input_ids".to_owned(), Array::integers([1, 3], vec![7, 0, 8])),
            ("attention_mask".to_owned(), Array::integers([1, 3], vec![1, 0, 1])),
        ])
    }

    fn scripted() -> CheckEngine {
        CheckEngine::new("scripted".parse().expect("is a name"))
    }

    #[test]
    fn padding_of_a_text_is_left_out_on_an_engine() {
        let (expected, got) = (counted(&[1, 3, 2], 0), counted(&[1, 3, 2], 10));
        let real = |first: f32| Array::floats([2, 2], [0.0, 1.0, 4.0, 5.0].map(|value| first + value).to_vec());
        let of = |inputs: &Arrays| defined(&scripted(), inputs, &expected, &got);
        assert_eq!(of(&padded()), Some([real(0.0), real(10.0)]));
        assert_eq!(
            defined(&CheckEngine::native(), &padded(), &expected, &got),
            None,
            "the native models compute what is recorded"
        );
        let changed = |name: &str, array: Array| {
            let mut inputs = padded();
            inputs.insert(name.to_owned(), array);
            inputs
        };
        let ids = |shape: [usize; 2]| Array::integers(shape, vec![7; shape[0] * shape[1]]);
        assert_eq!(of(&changed("decoder_input_ids", ids([1, 3]))), None);
        assert_eq!(of(&changed("input_ids", ids([1, 4]))), None, "the mask is of something else");
        assert_eq!(of(&changed("attention_mask", ids([1, 3]))), None, "there is no padding");
        let numbers = Array::integers([1, 3], vec![1, 2, 3]);
        let compared = |expected: &Array, got: &Array| defined(&scripted(), &padded(), expected, got);
        assert_eq!(compared(&numbers, &counted(&[1, 3], 0)), None);
        assert_eq!(compared(&counted(&[1, 3], 0), &numbers), None);
        assert_eq!(compared(&counted(&[1, 3, 1], 0), &got), None);
    }

    #[test]
    fn an_engines_padding_is_replaced_by_what_is_expected() {
        let (expected, got) = (counted(&[1, 3, 2], 0), counted(&[1, 3, 2], 10));
        let replaced = with_padding_of(&scripted(), &padded(), &expected, &got);
        let values = [10.0, 11.0, 2.0, 3.0, 14.0, 15.0];
        assert_eq!(replaced, Array::floats([1, 3, 2], values.to_vec()));
        assert_eq!(with_padding_of(&CheckEngine::native(), &padded(), &expected, &got), got);
    }
}
