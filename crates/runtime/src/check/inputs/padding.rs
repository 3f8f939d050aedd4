//! The positions of padding in recorded outputs: what is computed there is arbitrary, and nothing
//! reads it.

use crate::engine::CheckEngine;
use testgen_nn::array::{Array, Arrays};

/// Recorded and computed outputs without the positions of padding, where an engine computes, or
/// `None` if that changes nothing.
pub(in crate::check) fn defined(
    engine: &CheckEngine,
    inputs: &Arrays,
    expected: &Array,
    got: &Array,
) -> Option<[Array; 2]> {
    // Padding that sees no token, as outside of a sliding window, has arbitrary outputs, which
    // nothing reads: eager attention of transformers computes the mean of all values there, as the
    // native models do, and its `sdpa` zeros.
    engine.process_name()?;
    let (ids, mask) = (inputs.get("input_ids")?, inputs.get("attention_mask")?);
    // The padding of an encoder-decoder is after its texts, and sees the first token.
    let of_tokens = ids.shape() == mask.shape() && !inputs.contains_key("decoder_input_ids");
    let by_position = expected.shape().starts_with(mask.shape()) && expected.shape() == got.shape();
    let padded = mask.as_integers()?.contains(&0);
    let floats = expected.as_floats().is_some() && got.as_floats().is_some();
    (of_tokens && by_position && padded && floats)
        .then(|| [expected, got].map(|array| at_real_positions(array, mask)))
}

/// `got` with what `expected` has at the positions of padding; see [`defined`].
pub(in crate::check) fn with_padding_of(
    engine: &CheckEngine,
    inputs: &Arrays,
    expected: &Array,
    got: &Array,
) -> Array {
    let (Some(_), Some(mask)) = (
        defined(engine, inputs, expected, got),
        inputs.get("attention_mask"),
    ) else {
        return got.clone();
    };
    let (Some(expected), Some(values), Some(mask)) =
        (expected.as_floats(), got.as_floats(), mask.as_integers())
    else {
        return got.clone();
    };
    let width = values.len() / mask.len().max(1);
    // The positions of padding are then not compared.
    Array::floats(
        got.shape().to_vec(),
        expected
            .iter()
            .zip(values)
            .enumerate()
            .map(|(index, (expected, got))| {
                if mask[index / width] == 0 {
                    *expected
                } else {
                    *got
                }
            })
            .collect(),
    )
}

/// The entries where `mask` [batch, seq] is not zero: [batch, seq, ...] becomes [real, ...].
pub(in crate::check) fn at_real_positions(array: &Array, mask: &Array) -> Array {
    let (shape, rest) = array.shape().split_at(2);
    let mut flat_shape = vec![shape[0] * shape[1]];
    flat_shape.extend(rest);
    let real = mask
        .as_integers()
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0);
    let rows: Vec<usize> = real.map(|(index, _)| index).collect();
    let values = array.as_floats().unwrap_or_default().to_vec();
    Array::floats(flat_shape, values).select_rows(&rows)
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

    /// Inputs of a text of two tokens with padding between them.
    fn padded() -> Arrays {
        Arrays::from([
            (
                "input_ids".to_owned(),
                Array::integers([1, 3], vec![7, 0, 8]),
            ),
            (
                "attention_mask".to_owned(),
                Array::integers([1, 3], vec![1, 0, 1]),
            ),
        ])
    }

    fn scripted() -> CheckEngine {
        CheckEngine::new("scripted".parse().expect("is a name"))
    }

    #[test]
    fn padding_of_a_text_is_left_out_on_an_engine() {
        let (expected, got) = (counted(&[1, 3, 2], 0), counted(&[1, 3, 2], 10));
        let real = |first: f32| {
            Array::floats(
                [2, 2],
                [0.0, 1.0, 4.0, 5.0].map(|value| first + value).to_vec(),
            )
        };
        let compared = |inputs: &Arrays| defined(&scripted(), inputs, &expected, &got);
        assert_eq!(compared(&padded()), Some([real(0.0), real(10.0)]));
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
        assert_eq!(compared(&changed("decoder_input_ids", ids([1, 3]))), None);
        assert_eq!(
            compared(&changed("input_ids", ids([1, 4]))),
            None,
            "the mask is of something else"
        );
        assert_eq!(
            compared(&changed("attention_mask", ids([1, 3]))),
            None,
            "no position is padding"
        );
        let numbers = Array::integers([1, 3], vec![1, 2, 3]);
        let compared =
            |expected: &Array, got: &Array| defined(&scripted(), &padded(), expected, got);
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
        assert_eq!(
            with_padding_of(&CheckEngine::native(), &padded(), &expected, &got),
            got
        );
    }
}
