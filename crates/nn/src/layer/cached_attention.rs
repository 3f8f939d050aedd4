//! Attention whose keys and values may be cached: the keys and values of earlier steps, or the ones
//! computed from the encoder's output.

use super::{AttentionNames, Linear, attend, project_heads};
use crate::{
    backend::Ops,
    cache::KeyValue,
    context::ForwardContext,
    forward::ForwardError,
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// The sizes of the attention, and which projections have a bias.
#[derive(Debug, Clone, Copy)]
pub struct CachedAttentionShape {
    /// The width of the hidden states.
    pub width: usize,
    /// The number of heads.
    pub heads: usize,
    /// The width of one head.
    pub head_dim: usize,
    /// Whether query, value and output have a bias.
    pub bias: bool,
    /// Whether the key has a bias.
    pub key_bias: bool,
    /// Factor of the scores.
    pub scale: f64,
}

/// Four linear projections around [`attend`](super::attend).
pub struct CachedAttention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
    scale: f64,
}

impl<B: Ops> CachedAttention<B> {
    /// Loads the four linear projections, named `names` below `w`.
    pub fn load(
        w: &Weights<B>,
        names: &AttentionNames,
        shape: &CachedAttentionShape,
    ) -> Result<Self, WeightsError> {
        let CachedAttentionShape {
            width,
            heads,
            head_dim,
            bias,
            key_bias,
            scale,
        } = *shape;
        let linear =
            |name, inner, out, bias| Linear::load_with_bias(&w.module(name), inner, out, bias);
        let inner = heads * head_dim;
        Ok(Self {
            query: linear(names.query, width, inner, bias)?,
            // `WhisperAttention` has no bias of keys.
            key: linear(names.key, width, inner, key_bias)?,
            value: linear(names.value, width, inner, bias)?,
            output: linear(names.output, inner, width, bias)?,
            heads,
            scale,
        })
    }

    /// Self-attention of `x` [batch, seq, width], except for keys that the bias hides.
    pub fn attend_self(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let new = self.keys_values(x.clone());
        self.over(x, new, bias)
    }

    /// As [`CachedAttention::attend_self`], after the tokens of earlier steps.
    pub fn attend_cached(
        &self,
        x: Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
        layer: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> Tensor<B, 3> {
        // Keys and values of new tokens only: the cache has those before them.
        let all = context.with_past(layer, self.keys_values(x.clone()));
        self.over(x, all, bias)
    }

    /// Cross-attention of `x` to `memory` [batch, source, width]; later steps use the keys and
    /// values that the first one cached.
    pub fn attend_cross(
        &self,
        x: Tensor<B, 3>,
        memory: Option<&Tensor<B, 3>>,
        bias: Option<Tensor<B, 4>>,
        layer: usize,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        // In the first step of a session only: the source stays the same.
        let memory = context.with_memory(layer, || {
            memory.map(|memory| self.keys_values(memory.clone()))
        })?;
        Ok(self.over(x, memory, bias))
    }

    fn keys_values(&self, x: Tensor<B, 3>) -> KeyValue<B> {
        KeyValue {
            key: project_heads(&self.key, x.clone(), self.heads),
            value: project_heads(&self.value, x, self.heads),
        }
    }

    fn over(
        &self,
        x: Tensor<B, 3>,
        KeyValue { key, value }: KeyValue<B>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let query = project_heads(&self.query, x, self.heads);
        self.output
            .forward(attend(query, key, value, self.scale, bias))
    }
}
