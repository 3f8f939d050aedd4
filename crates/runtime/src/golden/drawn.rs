//! Inputs that a golden has as their seed: a batch of images would be larger than all else in it.
//!
//! `python/record/drawn_inputs.py` computes the same values.

use super::error::Unreadable;
use serde::Deserialize;
use std::collections::BTreeMap;
use testgen_checkpoints::nearly_normal;
use testgen_nn::array::{Array, Arrays};

/// The most values that a golden may draw, 256 MB.
// Twenty images of 1024 by 1024 pixels have as many.
const MOST_VALUES: u64 = 1 << 26;

/// The entry of an input in the metadata `drawn`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DrawnInput {
    shape: Vec<usize>,
    seed: u64,
    mean: f32,
    std: f32,
}

/// The inputs by their names in the golden.
pub(super) fn inputs(drawn: BTreeMap<String, DrawnInput>) -> Result<Arrays, Unreadable> {
    // All are counted before the first is drawn, so that a damaged file costs no memory.
    let mut left = MOST_VALUES;
    for (name, input) in &drawn {
        let count = input.count().filter(|count| (1..=left).contains(count));
        left -= count.ok_or_else(|| Unreadable {
            part: name.clone(),
            why: format!(
                "its shape is {:?}; at most {MOST_VALUES} values are drawn",
                input.shape
            ),
        })?;
    }
    let named = drawn.into_iter();
    Ok(named
        .map(|(name, input)| {
            let values = input.values(&name);
            (name, values)
        })
        .collect())
}

impl DrawnInput {
    /// The number of values, unless it is too large for a number.
    fn count(&self) -> Option<u64> {
        let mut lengths = self.shape.iter();
        lengths.try_fold(1_u64, |product, length| product.checked_mul(*length as u64))
    }

    /// The values of the tensor `name`.
    fn values(self, name: &str) -> Array {
        let count = self.shape.iter().product::<usize>() as u64;
        let values = nearly_normal(self.seed, name, [self.mean, self.std], count);
        Array::floats(self.shape, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shapes: &[&[usize]]) -> Option<Arrays> {
        let input = |shape: &&[usize]| DrawnInput {
            shape: shape.to_vec(),
            seed: 7,
            mean: 3.0,
            std: 2.0,
        };
        let names = ["input.pixels", "input.features"].map(str::to_owned);
        inputs(names.into_iter().zip(shapes.iter().map(input)).collect()).ok()
    }

    #[test]
    fn the_values_are_those_of_the_recorder() {
        // The test in Python has the same numbers.
        let expected = [3.5299544, 4.0528255, 2.46587, 3.819299, 4.743151];
        let found = drawn(&[&[1, 5]]).expect("it is small");
        assert_eq!(
            found["input.pixels"],
            Array::floats([1, 5], expected.to_vec())
        );
    }

    #[test]
    fn inputs_that_are_empty_or_too_large_together_are_refused() {
        for shape in [&[0, 5][..], &[1 << 30], &[usize::MAX, 3]] {
            assert!(drawn(&[shape]).is_none(), "{shape:?}");
        }
        assert!(drawn(&[&[9], &[MOST_VALUES as usize - 8]]).is_none());
    }
}
