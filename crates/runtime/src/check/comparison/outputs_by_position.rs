//! The outputs of a call, split into those with one entry per position of the sequence and the
//! pooled ones.

use super::super::{
    inputs::stream::TokenSequence,
    run::{Abort, CheckRun, SubjectUnderTest},
};
use testgen_engine::Feature;
use testgen_nn::{
    array::{Array, Arrays},
    forward::{Forward, ForwardError},
};
use testgen_types::Head;

/// The outputs of one call.
pub(in crate::check) struct OutputsByPosition {
    /// [batch, seq, ...], by name.
    pub(in crate::check) positions: Vec<(String, Array)>,
    /// [batch, ...] without the sequence, by name.
    pub(in crate::check) pooled: Vec<(String, Array)>,
}

impl OutputsByPosition {
    /// The outputs, for a check that compares positions and nothing else.
    pub(in crate::check) fn require_positions(self) -> Result<Self, Abort> {
        // Without any output nothing would be compared, which must not count as a pass.
        if self.positions.is_empty() {
            return Err(Abort::Fail(
                "the model returns nothing per position".to_owned(),
            ));
        }
        Ok(self)
    }
}

/// The outputs of two calls in pairs. Outputs that only one call has, or has in that number of
/// dimensions, fail the check.
pub(in crate::check) fn pairs<'o>(
    one: &'o [(String, Array)],
    other: &'o [(String, Array)],
) -> Result<impl Iterator<Item = (&'o str, &'o Array, &'o Array)>, Abort> {
    let names = [one, other]
        .map(|outputs| -> Vec<&str> { outputs.iter().map(|(name, _)| name.as_str()).collect() });
    // They would not be compared.
    if names[0] != names[1] {
        let [one, other] = names;
        return Err(Abort::Fail(format!(
            "two calls that are compared have other outputs: {one:?} and {other:?}"
        )));
    }
    let pairs = one.iter().zip(other);
    Ok(pairs.map(|((name, one), (_, other))| (name.as_str(), one, other)))
}

/// The dimensions by which positions of a call are recognised.
#[derive(Clone, Copy)]
pub(in crate::check) struct PositionAxes<'a> {
    pub(in crate::check) stream: TokenSequence<'a>,
    /// The shape of the ids, [batch, seq].
    pub(in crate::check) shape: &'a [usize],
    pub(in crate::check) head: Head,
}

/// Runs `inputs`.
pub(in crate::check) fn forward_by_position(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    stream: TokenSequence<'_>,
    inputs: &Arrays,
) -> Result<OutputsByPosition, ForwardError> {
    let forward = tested.model().forward(inputs)?;
    // If no output has an entry per position of `stream`, as in a classifier, the hidden states are
    // used instead.
    by_position(run, tested, stream, inputs, forward)
}

/// As [`forward_by_position`], from the outputs of `inputs`.
pub(in crate::check) fn by_position(
    run: &mut CheckRun<'_>,
    tested: &SubjectUnderTest,
    stream: TokenSequence<'_>,
    inputs: &Arrays,
    forward: Forward,
) -> Result<OutputsByPosition, ForwardError> {
    let model = tested.model();
    let shape = inputs
        .get(stream.ids())
        .map(Array::shape)
        .unwrap_or_default();
    let axes = PositionAxes {
        stream,
        shape,
        head: model.head(),
    };
    let mut outputs = split(forward, axes);
    if outputs.positions.is_empty() {
        // Without them, a failure without wrong numbers is not the model's.
        run.unsupported = tested
            .loaded()
            .lacks(Feature::HiddenStates)
            .map(str::to_owned);
        outputs.positions = hidden_states(model.forward_traced(inputs)?, axes);
    }
    Ok(outputs)
}

fn split(forward: Forward, axes: PositionAxes<'_>) -> OutputsByPosition {
    let (positions, pooled) = one_row_per_input(forward.outputs, axes.shape)
        .into_iter()
        .partition(|(name, array)| axes.has(name, array.shape()));
    OutputsByPosition { positions, pooled }
}

fn hidden_states(forward: Forward, axes: PositionAxes<'_>) -> Vec<(String, Array)> {
    let named = forward
        .trace
        .into_iter()
        .map(|(name, array)| (format!("trace.{name}"), array));
    named
        .filter(|(name, array)| axes.has(name, array.shape()))
        .collect()
}

/// The outputs of a call whose ids have the shape `ids`, with one row per row of ids.
///
/// A generator with retrieval computes logits for each passage of a question: [batch * passages,
/// seq, vocab] becomes [batch, seq, passages * vocab], so that rows and positions can be compared
/// like the rows and positions of other models.
pub(in crate::check) fn one_row_per_input(outputs: Arrays, ids: &[usize]) -> Arrays {
    outputs
        .into_iter()
        .map(|(name, array)| {
            let array = group_passages(&name, &array, ids).unwrap_or(array);
            (name, array)
        })
        .collect()
}

/// None where there is one row per row of ids already.
fn group_passages(name: &str, array: &Array, ids: &[usize]) -> Option<Array> {
    let (&[rows, seq, vocab], &[batch, columns]) = (array.shape(), ids) else {
        return None;
    };
    if name != "logits" || batch == 0 || rows <= batch || rows % batch != 0 || seq != columns {
        return None;
    }
    let (passages, values) = (rows / batch, array.as_floats()?);
    let span =
        |row: usize, column: usize| (row * seq + column) * vocab..(row * seq + column + 1) * vocab;
    let entry = |row, column| {
        (0..passages).flat_map(move |passage| {
            values[span(row * passages + passage, column)]
                .iter()
                .copied()
        })
    };
    let moved = (0..batch).flat_map(|row| (0..seq).flat_map(move |column| entry(row, column)));
    Some(Array::floats(
        [batch, seq, passages * vocab],
        moved.collect(),
    ))
}

impl PositionAxes<'_> {
    /// Whether the output or hidden state `name` has one entry per position.
    pub(in crate::check) fn has(&self, name: &str, shape: &[usize]) -> bool {
        // By its shape alone, [batch, seq] is not distinguishable from [batch, labels], so these
        // outputs are known by name. Of the heads for pre-training only ELECTRA's discriminator has
        // logits of two dimensions, and those are per position.
        let known = matches!(name, "start_logits" | "end_logits")
            || (name == "logits" && self.head == Head::PreTraining);
        let named = shape.len() == 2 && known;
        self.stream.owns(name)
            && (shape.len() == 3 || named)
            && self.shape.len() == 2
            && shape[..2] == *self.shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(shape: &[usize], first: u8) -> Array {
        Array::floats(
            shape,
            (first..)
                .take(shape.iter().product())
                .map(f32::from)
                .collect(),
        )
    }

    #[test]
    fn an_output_that_one_call_lacks_fails() {
        let outputs = |names: &[&str]| -> Vec<(String, Array)> {
            let named = names.iter().map(|name| (*name).to_owned());
            named.map(|name| (name, counted(&[1], 0))).collect()
        };
        let (one, both) = (outputs(&["a"]), outputs(&["a", "b"]));
        assert_eq!(pairs(&both, &both).map(Iterator::count), Ok(2));
        for [one, other] in [[&one, &both], [&both, &one]] {
            let failure = pairs(one, other).map(Iterator::count);
            assert!(matches!(failure, Err(Abort::Fail(why)) if why.contains(r#"["a", "b"]"#)));
        }
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
            assert_eq!(
                group_passages(name, &counted(shape, 0), ids),
                None,
                "{name} {shape:?} {ids:?}"
            );
        }
    }

    #[test]
    fn outputs_per_position_are_recognised_by_shape_and_name() {
        let has = |name: &str, shape: &[usize], head: Head| {
            PositionAxes {
                stream: TokenSequence::Text,
                shape: &[2, 3],
                head,
            }
            .has(name, shape)
        };
        assert!(has("last_hidden_state", &[2, 3, 4], Head::Base));
        assert!(!has("last_hidden_state", &[2, 4, 3], Head::Base));
        assert!(
            !has("pooler_output", &[2, 3], Head::PreTraining),
            "a pooled output may have that shape, too"
        );
        for name in ["start_logits", "end_logits"] {
            assert!(has(name, &[2, 3], Head::QuestionAnswering));
            assert!(!has(name, &[2, 4], Head::QuestionAnswering));
        }
        assert!(has("logits", &[2, 3], Head::PreTraining));
        assert!(
            !has("logits", &[2, 3], Head::SequenceClassification),
            "three labels are not three positions"
        );
        let of_no_text = PositionAxes {
            stream: TokenSequence::Text,
            shape: &[],
            head: Head::Base,
        };
        assert!(!of_no_text.has("last_hidden_state", &[2, 3, 4]));
    }
}
