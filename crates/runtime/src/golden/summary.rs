//! The summary of a large tensor: signed sums of the values of each row, and how a golden describes
//! them.
//!
//! Every value is in one sum of each of [`SETS`] sets, with a sign; a random word for its place in
//! the row decides which. The sums are linear, so their difference from the recorded ones is the
//! summary of the difference: an error of all values has about the same relative size in both, and
//! no error of a value vanishes. `python/record/summary.py` computes the same bits.

use super::error::Unreadable;
use serde::Deserialize;
use testgen_checkpoints::RandomWords;
use testgen_nn::array::Array;

/// Two values in the same sum with the same sign could be exchanged unseen, but rarely so in both
/// sets.
const SETS: usize = 2;

/// The summary of a tensor of floats.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedSummary {
    /// The shape of the tensor.
    pub(super) shape: Vec<usize>,
    /// Its largest absolute value.
    pub(super) largest: f64,
    /// The leading dimensions that are kept, then the sums of each row.
    pub(super) sums: Array,
}

impl RecordedSummary {
    /// The leading dimensions that are kept.
    pub(super) fn rows(&self) -> &[usize] {
        let shape = self.sums.shape();
        &shape[..shape.len() - 1]
    }

    /// The same sums of another tensor of this shape.
    pub(super) fn same_of(&self, tensor: &Array) -> Array {
        sums(tensor, self.sums.shape())
    }
}

/// The entry of a tensor in the metadata `summaries`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SummaryEntry {
    shape: Vec<usize>,
    largest: f64,
}

impl SummaryEntry {
    /// The tensor `name`, whose recorded numbers are `sums`.
    pub(super) fn of(self, name: &str, sums: Array) -> Result<RecordedSummary, Unreadable> {
        let Self { shape, largest } = self;
        let refused = |why: String| Unreadable {
            part: name.to_owned(),
            why,
        };
        // `largest` scales thresholds, so that NaN or a negative number would make every error pass
        // or fail.
        if sums.as_floats().is_none() || !largest.is_finite() || largest < 0.0 {
            return Err(refused("its summary does not hold numbers".to_owned()));
        }
        let fits = match sums.shape() {
            [rows @ .., count] => {
                let values: Option<usize> = shape
                    .iter()
                    // The sizes are read from a file, whose product could overflow.
                    .try_fold(1_usize, |product, length| product.checked_mul(*length));
                // A summary is smaller than what it describes.
                let smaller =
                    values.is_some_and(|values| values >= rows.iter().product::<usize>() * count);
                rows.len() < shape.len()
                    && shape.starts_with(rows)
                    && *count > 0
                    && count.is_multiple_of(SETS)
                    && smaller
            }
            [] => false,
        };
        if !fits {
            return Err(refused(format!(
                "a tensor {shape:?} has no summary {:?}",
                sums.shape()
            )));
        }
        Ok(RecordedSummary {
            shape,
            largest,
            sums,
        })
    }
}

/// The sums of `array`, in the shape of a summary: leading dimensions of `array`, then the number
/// of sums. The summary of an array that does not hold floats is 0.
pub(super) fn sums(array: &Array, shape: &[usize]) -> Array {
    let values = array.as_floats().unwrap_or_default();
    let (sums_of_row, rows) = match shape {
        [rows @ .., sums] => (*sums, rows.iter().product::<usize>().max(1)),
        [] => (1, 1),
    };
    let count = sums_of_row / SETS;
    // The same places for every row, so that they are drawn once.
    let places = places(values.len() / rows, count);
    let mut found = vec![0.0_f64; rows * sums_of_row];
    // At least one element, because `chunks_exact` panics at zero; an empty tensor has no row.
    for (row, found) in values
        .chunks_exact((values.len() / rows).max(1))
        .zip(found.chunks_exact_mut(sums_of_row))
    {
        for (value, places) in row.iter().zip(&places) {
            for place in places {
                // In the order of the values, as numpy adds.
                found[place.sum] += place.sign * f64::from(*value);
            }
        }
    }
    // Rounded once at the end: the recorder adds in float64 and stores float32.
    Array::floats(shape, found.into_iter().map(|sum| sum as f32).collect())
}

/// The sum of a set that a value belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SumPlace {
    /// Its number in the row, the sums of the first set first.
    sum: usize,
    /// 1 or -1.
    sign: f64,
}

/// The places of the values of a row of this width, in `count` sums of each set.
fn places(width: usize, count: usize) -> Vec<[SumPlace; SETS]> {
    RandomWords::of(&format!("summary:{width}"))
        .first(width as u64)
        .map(|word| {
            let halves = [word & 0xFFFF_FFFF, word >> 32];
            [0, 1].map(|set: usize| SumPlace {
                // The lowest bit is the sign, so that the place comes from the other bits and does
                // not depend on it.
                sum: set * count + (halves[set] >> 1) as usize % count,
                sign: if halves[set] & 1 == 0 { 1.0 } else { -1.0 },
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_recorder() {
        // The test in Python has the same numbers; without them, another order, other places or no
        // signs would be consistent with themselves.
        let values = (0..2000_u16).map(|value| f32::from(value % 17)).collect();
        let found = sums(&Array::floats([2, 1000], values), &[2, 512]);
        let found = found.as_floats().expect("they are floats");
        assert_eq!(found[..6], [-28.0, 8.0, 9.0, 10.0, -30.0, -8.0]);
        assert_eq!(found[1020..], [7.0, -10.0, -18.0, 5.0]);
        assert_eq!(found.iter().map(|sum| sum.abs()).sum::<f32>(), 14562.0);
    }

    #[test]
    fn a_value_that_is_not_finite_is_in_a_sum() {
        for value in [f32::NAN, f32::INFINITY] {
            let mut values = vec![1.0; 3000];
            values[2345] = value;
            let found = sums(&Array::floats([3, 1000], values), &[3, 10]);
            let found = found.as_floats().expect("they are floats");
            let rows: Vec<usize> = found
                .chunks(10)
                .map(|row| row.iter().filter(|sum| !sum.is_finite()).count())
                .collect();
            assert_eq!(rows, [0, 0, SETS]);
        }
    }

    #[test]
    fn a_description_that_does_not_fit_its_sums_is_refused() {
        let described = |shape: &[usize], sums: &[usize]| {
            let description = SummaryEntry {
                shape: shape.to_vec(),
                largest: 1.0,
            };
            let sums = Array::floats(sums, vec![0.0; sums.iter().product()]);
            description.of("output.x", sums).is_ok()
        };
        assert!(described(&[2, 9, 1000], &[2, 9, 56]));
        assert!(described(&[2, 1500, 768], &[2, 512]));
        assert!(described(&[5000], &[1024]));
        for (shape, sums) in [
            (&[2, 9, 1000][..], &[2, 8, 56][..]),
            (&[2, 9, 1000], &[2, 9, 55]),
            (&[2, 9, 1000], &[2, 9, 1000, 2]),
            (&[2, 9, 10], &[2, 9, 56]),
            (&[2, 9, 1000], &[2, 9, 0]),
            (&[usize::MAX, 9, 1000], &[2]),
            (&[], &[2]),
        ] {
            assert!(!described(shape, sums), "{shape:?} {sums:?}");
        }
    }
}
