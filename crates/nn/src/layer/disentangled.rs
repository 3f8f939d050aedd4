//! Attention to content and to distance apart (DeBERTa, He et al. 2020), as
//! `DisentangledSelfAttention` computes it.

use super::{Linear, attend, project_heads, split_heads};
use crate::{
    backend::{Ops, matmul},
    inputs::Inputs,
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Int, Tensor};

/// How distances are mapped to rows of the table of distances.
#[derive(Debug, Clone, Copy)]
pub struct DistanceBuckets {
    /// Small distances have a row each, large ones share rows logarithmically; `None` assigns
    /// every distance a row.
    pub buckets: Option<usize>,
    /// The distance from which on all share the last row.
    pub max_distance: usize,
}

impl DistanceBuckets {
    /// Rows for each direction; the table has twice as many.
    pub fn span(&self) -> usize {
        self.buckets.unwrap_or(self.max_distance)
    }

    /// The row, before it is limited to the table, of a key that is `distance` before its query.
    fn bucket(&self, distance: i64) -> i64 {
        let Some(buckets) = self.buckets else {
            return distance;
        };
        // As `make_log_bucket_position`: half of the rows of a direction are for single distances.
        let middle = (buckets / 2) as i64;
        if distance.abs() <= middle {
            return distance;
        }
        // The logarithm is taken in f32, as PyTorch takes it, because it is rounded up.
        let ratio = (distance.abs() as f32 / middle as f32).ln();
        // Python divides both in f64, and `torch.tensor` makes an f32 of it.
        let largest = (((self.max_distance - 1) as f64 / middle as f64) as f32).ln();
        let steps = (ratio / largest * (middle - 1) as f32).ceil() as i64;
        (steps + middle) * distance.signum()
    }

    /// The rows of the table for every pair of positions, [1, 1, seq, seq]: the row for how far the
    /// second is before the first, or for its opposite.
    fn rows<B: Ops>(
        &self,
        seq: usize,
        opposite: bool,
        inputs: &Inputs<'_, B>,
    ) -> Tensor<B, 4, Int> {
        let span = self.span() as i64;
        let pairs = (0..seq).flat_map(|first| (0..seq).map(move |second| (first, second)));
        let rows = pairs.map(|(first, second)| {
            let bucket = self.bucket(first as i64 - second as i64);
            // As in transformers: distances beyond the table share its last row.
            (if opposite { -bucket } else { bucket } + span).clamp(0, 2 * span - 1)
        });
        inputs.put_indices(rows.collect(), [1, 1, seq, seq])
    }
}

/// The parts of the scores besides content to content, and whether distances share the projections
/// of contents.
#[derive(Debug, Clone, Copy)]
pub struct DisentangledShape {
    /// The width of the hidden states.
    pub width: usize,
    /// The number of heads.
    pub heads: usize,
    /// From content to distance.
    pub to_distance: bool,
    /// From distance to content.
    pub from_distance: bool,
    /// Whether distances go through the linear projections of the contents (`share_att_key`).
    pub shared: bool,
    /// None without relative attention.
    pub distances: Option<DistanceBuckets>,
}

/// The map of distances to keys or queries.
enum DistanceMap<B: Ops> {
    /// The projection of the contents.
    Shared,
    Own(Linear<B>),
}

/// Self-attention whose scores add content-to-distance and distance-to-content terms (He et al.
/// 2021).
pub struct Disentangled<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    /// To keys, for content to distance.
    distance_keys: Option<DistanceMap<B>>,
    /// To queries, for distance to content.
    distance_queries: Option<DistanceMap<B>>,
    shape: DisentangledShape,
}

impl<B: Ops> Disentangled<B> {
    /// The module `attention` of a layer.
    pub fn load(w: &Weights<B>, shape: DisentangledShape) -> Result<Self, WeightsError> {
        let own = w.module("self");
        let square = |name: &str| Linear::load(&own.module(name), shape.width, shape.width);
        let relative = shape.distances.is_some();
        let distances = |used: bool, name: &str| {
            (used && relative)
                .then(|| {
                    if shape.shared {
                        Ok(DistanceMap::Shared)
                    } else {
                        square(name).map(DistanceMap::Own)
                    }
                })
                .transpose()
        };
        Ok(Self {
            query: square("query_proj")?,
            key: square("key_proj")?,
            value: square("value_proj")?,
            output: Linear::load(&w.module("output.dense"), shape.width, shape.width)?,
            distance_keys: distances(shape.to_distance, "pos_key_proj")?,
            distance_queries: distances(shape.from_distance, "pos_query_proj")?,
            shape,
        })
    }

    /// [batch, seq, width]; `table` is [2 * span, width], `bias` as [`attend`] takes it.
    pub fn forward(
        &self,
        x: Tensor<B, 3>,
        table: Option<&Tensor<B, 2>>,
        bias: Option<Tensor<B, 4>>,
        inputs: &Inputs<'_, B>,
    ) -> Tensor<B, 3> {
        let [query, key, value] = [&self.query, &self.key, &self.value]
            .map(|linear| project_heads(linear, x.clone(), self.shape.heads));
        // Each part of the scores widens their variance; `scale_factor` of transformers counts
        // them.
        let parts = 1 + usize::from(self.shape.to_distance) + usize::from(self.shape.from_distance);
        let scale = ((query.dims()[3] * parts) as f64).powf(-0.5);
        let distances = table.and_then(|table| self.distances(&query, &key, table, inputs));
        // As a part of the bias, the scores of distances are added in
        // the softmax's pass, and scaled before, as contents are.
        let distances = distances.map(|scores| scores.cast(DType::F32) * scale);
        let bias = match (distances, bias) {
            (Some(distances), Some(bias)) => Some(distances + bias),
            (distances, bias) => distances.or(bias),
        };
        self.output.forward(attend(query, key, value, scale, bias))
    }

    /// The scores of distances, [batch, heads, query, key].
    fn distances(
        &self,
        query: &Tensor<B, 4>,
        key: &Tensor<B, 4>,
        table: &Tensor<B, 2>,
        inputs: &Inputs<'_, B>,
    ) -> Option<Tensor<B, 4>> {
        let (buckets, [batch, heads, seq, _]) = (self.shape.distances?, query.dims());
        let gather = |scores: Tensor<B, 4>, opposite: bool| {
            let rows = buckets.rows(seq, opposite, inputs);
            // Repeated, because `gather` does not broadcast its indices.
            scores
                .gather(3, rows.repeat_dim(0, heads).repeat_dim(1, batch))
                .swap_dims(0, 1)
        };
        let to = self.distance_keys.as_ref().map(|map| {
            let keys = self.mapped(map, &self.key, table);
            gather(with_table(query.clone(), keys), false)
        });
        let from = self.distance_queries.as_ref().map(|map| {
            let queries = self.mapped(map, &self.query, table);
            gather(with_table(key.clone(), queries), true).swap_dims(2, 3)
        });
        match (to, from) {
            (Some(to), Some(from)) => Some(to + from),
            (to, from) => to.or(from),
        }
    }

    /// The rows of the table as keys or queries, [1, heads, 2 * span, head_dim].
    fn mapped(
        &self,
        map: &DistanceMap<B>,
        shared: &Linear<B>,
        table: &Tensor<B, 2>,
    ) -> Tensor<B, 4> {
        let linear = match map {
            DistanceMap::Shared => shared,
            DistanceMap::Own(linear) => linear,
        };
        split_heads(
            linear.forward(table.clone()).unsqueeze::<3>(),
            self.shape.heads,
        )
    }
}

/// `x` [batch, heads, seq, head_dim] times the transposed `table` [1, heads, rows, head_dim]:
/// [heads, batch, seq, rows].
fn with_table<B: Ops>(x: Tensor<B, 4>, table: Tensor<B, 4>) -> Tensor<B, 4> {
    let ([batch, heads, seq, head_dim], rows) = (x.dims(), table.dims()[2]);
    // The batch goes into the sequence, because one side of the product has no batch.
    let x = x.swap_dims(0, 1).reshape([1, heads, batch * seq, head_dim]);
    matmul(x, table.swap_dims(2, 3)).reshape([heads, batch, seq, rows])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are from `make_log_bucket_position` in transformers.
    #[test]
    fn distances_fall_into_the_buckets_of_transformers() {
        let buckets = DistanceBuckets {
            buckets: Some(8),
            max_distance: 24,
        };
        let got: Vec<i64> = [
            -30, -23, -12, -8, -5, -4, -3, 0, 1, 4, 5, 6, 9, 12, 13, 23, 40,
        ]
        .into_iter()
        .map(|distance| buckets.bucket(distance))
        .collect();
        assert_eq!(
            got,
            [-8, -7, -6, -6, -5, -4, -3, 0, 1, 4, 5, 5, 6, 6, 7, 7, 8]
        );
        assert_eq!(
            DistanceBuckets {
                buckets: None,
                max_distance: 9
            }
            .bucket(-7),
            -7
        );
    }
}
