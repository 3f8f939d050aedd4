//! The softmax of attention scores, with scale and mask in the same pass.

use super::{exponential::exp, rows_per_task};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Added to the scaled scores: [batch or 1, heads or 1, query or 1, key].
pub(in crate::backend) struct Bias<'a> {
    pub(in crate::backend) elements: &'a [f32],
    pub(in crate::backend) shape: [usize; 4],
}

impl<'a> Bias<'a> {
    /// The row for `row`, counted over batch, head and query of scores of `shape`.
    fn row(&self, row: usize, [_, heads, queries, keys]: [usize; 4]) -> &'a [f32] {
        let [own_batch, own_heads, own_queries, _] = self.shape;
        let batch = if own_batch == 1 {
            0
        } else {
            row / (heads * queries)
        };
        let head = if own_heads == 1 {
            0
        } else {
            row / queries % heads
        };
        let query = if own_queries == 1 { 0 } else { row % queries };
        let start = ((batch * own_heads + head) * own_queries + query) * keys;
        &self.elements[start..start + keys]
    }
}

/// softmax(`scores` * `scale` + `bias`) over the last dimension of [batch, heads, query, key], in
/// place.
pub(in crate::backend) fn masked_softmax(
    scores: &mut [f32],
    shape: [usize; 4],
    scale: f32,
    bias: Option<&Bias<'_>>,
) {
    let keys = shape[3];
    let (arch, rows) = (Arch::new(), rows_per_task(keys));
    scores
        .par_chunks_mut(keys * rows)
        .enumerate()
        .for_each(|(task, scores)| {
            arch.dispatch(SoftmaxRows {
                scores,
                shape,
                scale,
                bias,
                first: task * rows,
            });
        });
}

/// The rows from `first` on.
struct SoftmaxRows<'a> {
    scores: &'a mut [f32],
    shape: [usize; 4],
    scale: f32,
    bias: Option<&'a Bias<'a>>,
    first: usize,
}

impl WithSimd for SoftmaxRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (index, row) in self.scores.chunks_exact_mut(self.shape[3]).enumerate() {
            match self.bias {
                None => {
                    for score in row.iter_mut() {
                        *score *= self.scale;
                    }
                }
                Some(bias) => {
                    for (score, bias) in
                        row.iter_mut().zip(bias.row(self.first + index, self.shape))
                    {
                        *score = score.mul_add(self.scale, *bias);
                    }
                }
            }
            softmax(row);
        }
    }
}

/// Vector lanes for the largest score and for the sum.
const LANES: usize = 16;

#[inline(always)]
fn softmax(row: &mut [f32]) {
    // Subtracted from every score, so that no exponential overflows.
    let largest = largest(row);
    let mut sums = [0.0_f32; LANES];
    for part in row.chunks_mut(LANES) {
        for (score, sum) in part.iter_mut().zip(&mut sums) {
            *score = exp(*score - largest);
            *sum += *score;
        }
    }
    let scale = 1.0 / sums.iter().sum::<f32>();
    for score in row {
        *score *= scale;
    }
}

/// The largest score; a NaN among them shows in the exponentials.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for part in row.chunks(LANES) {
        for (lane, score) in lanes.iter_mut().zip(part) {
            // One vector instruction; `f32::max` takes more, because it handles NaN.
            *lane = if *score > *lane { *score } else { *lane };
        }
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

#[cfg(test)]
mod tests {
    use super::{Bias, masked_softmax};

    #[test]
    fn rows_take_their_own_bias_and_masked_keys_get_nothing() {
        // [batch 2, heads 1, query 2, key 3]; the bias hides one key for each batch.
        let mut scores = vec![0.0; 12];
        let elements = [0.0, 0.0, f32::MIN, f32::MIN, 0.0, 0.0];
        let bias = Bias {
            elements: &elements,
            shape: [2, 1, 1, 3],
        };
        masked_softmax(&mut scores, [2, 1, 2, 3], 1.0, Some(&bias));
        assert_eq!(
            scores,
            [
                [0.5, 0.5, 0.0],
                [0.5, 0.5, 0.0],
                [0.0, 0.5, 0.5],
                [0.0, 0.5, 0.5]
            ]
            .concat()
        );
    }

    #[test]
    fn heads_take_their_own_bias() {
        // [batch 2, heads 2, query 1, key 2]; the bias hides another key for each head.
        let mut scores = vec![0.0; 8];
        let bias = Bias {
            elements: &[0.0, f32::MIN, f32::MIN, 0.0],
            shape: [1, 2, 1, 2],
        };
        masked_softmax(&mut scores, [2, 2, 1, 2], 1.0, Some(&bias));
        assert_eq!(scores, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_fully_masked_row_is_uniform_as_in_transformers() {
        let mut scores = vec![3.0, -1.0, 2.0, 5.0];
        let bias = Bias {
            elements: &[f32::MIN; 4],
            shape: [1, 1, 1, 4],
        };
        masked_softmax(&mut scores, [1, 1, 1, 4], 0.5, Some(&bias));
        assert_eq!(scores, [0.25; 4]);
    }

    #[test]
    fn a_nan_stays_visible() {
        let mut scores = vec![1.0, f32::NAN, 2.0];
        masked_softmax(&mut scores, [1, 1, 1, 3], 1.0, None);
        assert!(scores.iter().all(|score| score.is_nan()));
    }
}
