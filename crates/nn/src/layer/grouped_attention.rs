//! Self-attention of decoders: grouped heads, keys and values of earlier steps.

use super::{LayerContext, Linear, Projections, RmsNorm, attend_capped, split_heads};
use crate::{backend::Ops, cache::KeyValue, context::LayerSlot};
use burn_tensor::Tensor;

/// A token attends to itself and the earlier tokens that the bias does not hide.
pub struct GroupedAttention<B: Ops> {
    /// Query, key and value.
    pub projections: Projections<B, 3>,
    /// The norms of query and key before they are rotated, over each head or over all of them, by
    /// the norm's width.
    pub norms: Option<[RmsNorm<B>; 2]>,
    /// From the merged heads to the width of the hidden states.
    pub output: Linear<B>,
    /// The numbers of heads.
    pub heads: HeadCounts,
    /// The factor of the scores.
    pub scale: f64,
    /// The bound of the scaled scores, where they have one.
    pub soft_cap: Option<f64>,
    /// The bound of query, key and value, where they have one.
    pub clip: Option<f64>,
}

/// The numbers of heads. Groups of queries share one head of keys and values where there are fewer
/// of those.
#[derive(Debug, Clone, Copy)]
pub struct HeadCounts {
    /// Of the queries.
    pub query: usize,
    /// Of the keys, and of the values.
    pub key_value: usize,
}

impl HeadCounts {
    /// Every query has separate keys and values.
    pub fn equal(heads: usize) -> Self {
        Self {
            query: heads,
            key_value: heads,
        }
    }
}

impl<B: Ops> GroupedAttention<B> {
    /// Without norms and bounds, and scaled by the width of a head.
    pub fn defaults(
        projections: Projections<B, 3>,
        output: Linear<B>,
        heads: HeadCounts,
        head_dim: usize,
    ) -> Self {
        let scale = (head_dim as f64).powf(-0.5);
        Self {
            projections,
            norms: None,
            output,
            heads,
            scale,
            soft_cap: None,
            clip: None,
        }
    }

    /// [batch, seq, width]; `slot` is the layer's place in the call.
    pub fn forward(
        &self,
        x: Tensor<B, 3>,
        LayerContext { rotation, bias }: LayerContext<'_, B>,
        mut slot: LayerSlot<'_, '_, B>,
    ) -> Tensor<B, 3> {
        let [mut query, mut key, mut value] = self.projections.forward(x);
        if let Some([query_norm, key_norm]) = &self.norms {
            (query, key) = (by_width(query_norm, query), by_width(key_norm, key));
        }
        // After the norms and before the heads are split, as in `OlmoeAttention`.
        if let Some(bound) = self.clip {
            [query, key, value] = [query, key, value].map(|x| x.clamp(-bound, bound));
        }
        let HeadCounts {
            query: heads,
            key_value,
        } = self.heads;
        let (mut query, mut key) = (split_heads(query, heads), split_heads(key, key_value));
        if let Some(rotation) = rotation {
            // Before the cache: a cached key keeps the rotation of its position.
            (query, key) = (rotation.apply(query), rotation.apply(key));
        }
        let KeyValue { key, value } = slot.with_past(KeyValue {
            key,
            value: split_heads(value, key_value),
        });
        self.output.forward(attend_capped(
            [query, key, value],
            self.scale,
            self.soft_cap,
            bias,
        ))
    }
}

/// Normalises [batch, seq, width] in groups as wide as the norm.
fn by_width<B: Ops>(norm: &RmsNorm<B>, x: Tensor<B, 3>) -> Tensor<B, 3> {
    let [batch, seq, width] = x.dims();
    norm.forward(x.reshape([batch, seq, width / norm.width(), norm.width()]))
        .reshape([batch, seq, width])
}
