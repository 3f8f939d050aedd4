//! Relative position buckets of T5 (Raffel et al. 2019): a bias on the scores for how far a key is
//! from its query.
//!
//! `T5Attention._relative_position_bucket`; MPNet has the bidirectional form.

use super::Embedding;
use crate::{
    backend::Ops,
    inputs::Inputs,
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor};

/// How distances are sorted into buckets: near ones have a bucket each, far ones share them
/// logarithmically.
#[derive(Debug, Clone, Copy)]
pub struct RelativeBuckets {
    /// Whether keys after the query have separate buckets, the upper half; else they share the
    /// first.
    pub bidirectional: bool,
    /// The number of buckets.
    pub count: usize,
    /// The distance from which on all share the last bucket.
    pub max_distance: usize,
}

impl RelativeBuckets {
    /// The bucket of a key that is `distance` after its query; before it where negative. The
    /// logarithm is taken in f32, as PyTorch takes it, because its whole part counts.
    pub fn bucket(&self, distance: i64) -> i64 {
        let (count, first, distance) = if self.bidirectional {
            let count = self.count as i64 / 2;
            (count, if distance > 0 { count } else { 0 }, distance.abs())
        } else {
            // A key after its query is hidden from a decoder, so that all of them share bucket 0.
            (self.count as i64, 0, (-distance).max(0))
        };
        let exact = count / 2;
        if distance < exact {
            return first + distance;
        }
        // Python's `math.log`, in f64, which becomes f32 where PyTorch divides a tensor by it.
        let span = (self.max_distance as f64 / exact as f64).ln() as f32;
        let steps = (distance as f32 / exact as f32).ln() / span * (count - exact) as f32;
        // Cut off, not rounded, like `.to(torch.long)`.
        first + (exact + steps as i64).min(count - 1)
    }

    /// Rejects values that would divide by zero: a bucket count or a distance without room for far
    /// keys.
    pub fn validate(&self, count: &str, max_distance: &str) -> Result<(), String> {
        // Half of the buckets of a direction are for single distances.
        let exact = self.count / if self.bidirectional { 4 } else { 2 };
        if exact == 0 {
            return Err(format!("`{count}` {} is too small", self.count));
        }
        if self.max_distance <= exact {
            return Err(format!(
                "`{max_distance}` {} is not above the {exact} near distances",
                self.max_distance
            ));
        }
        Ok(())
    }
}

/// One learned value for each bucket and head.
pub struct RelativeBias<B: Ops> {
    values: Embedding<B>,
    buckets: RelativeBuckets,
}

impl<B: Ops> RelativeBias<B> {
    /// `weight` [buckets, heads].
    pub fn load(
        w: &Weights<B>,
        buckets: RelativeBuckets,
        heads: usize,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            values: Embedding::load(w, buckets.count, heads)?,
            buckets,
        })
    }

    /// The bias [1, heads, query, key], in f32, of the queries after `past` tokens; keys count from
    /// the first token.
    pub fn at(
        &self,
        past: usize,
        [queries, keys]: [usize; 2],
        inputs: &Inputs<'_, B>,
    ) -> Tensor<B, 4> {
        let buckets = inputs.put_indices(
            (0..queries)
                .flat_map(|query| {
                    (0..keys)
                        .map(move |key| self.buckets.bucket(key as i64 - (past + query) as i64))
                })
                .collect(),
            [queries, keys],
        );
        self.values
            .forward(buckets)
            .permute([2, 0, 1])
            .unsqueeze::<4>()
            .cast(DType::F32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(bidirectional: bool, distances: &[i64]) -> Vec<i64> {
        let buckets = RelativeBuckets {
            bidirectional,
            count: 32,
            max_distance: 128,
        };
        distances
            .iter()
            .map(|distance| buckets.bucket(*distance))
            .collect()
    }

    /// Expected values are from `T5Attention._relative_position_bucket`.
    #[test]
    fn distances_fall_into_the_buckets_of_transformers() {
        let distances = [
            -400, -128, -127, -91, -64, -46, -45, -32, -17, -15, -8, -7, -1, 0, 1, 7, 8, 11, 12,
            22, 23, 45, 46, 90, 91, 500,
        ];
        assert_eq!(
            buckets(true, &distances),
            [
                15, 15, 15, 15, 14, 13, 12, 12, 10, 9, 8, 7, 1, 0, 17, 23, 24, 24, 25, 26, 27, 28,
                29, 30, 31, 31
            ]
        );
        assert_eq!(
            buckets(false, &distances),
            [
                31, 31, 31, 29, 26, 24, 23, 21, 16, 15, 8, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0
            ]
        );
    }

    #[test]
    fn no_room_for_far_keys_is_an_error() {
        let buckets = RelativeBuckets {
            bidirectional: true,
            count: 8,
            max_distance: 2,
        };
        assert!(buckets.validate("count", "distance").is_err());
        assert!(
            RelativeBuckets {
                max_distance: 3,
                ..buckets
            }
            .validate("count", "distance")
            .is_ok()
        );
        assert!(
            RelativeBuckets {
                count: 3,
                ..buckets
            }
            .validate("count", "distance")
            .is_err()
        );
    }
}
