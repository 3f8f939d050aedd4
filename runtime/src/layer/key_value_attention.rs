//! Attention whose keys and values may come from elsewhere: from earlier steps, or from what an encoder gave.

use super::{AttentionNames, Linear, attend, split_heads};
use crate::{
    backend::Ops,
    model::{ForwardError, Pass},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// The width of the layer and of all heads together, which maps have a bias, and what scores are multiplied by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyValueShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    /// Whether query, value and output have a bias.
    pub(crate) bias: bool,
    pub(crate) key_bias: bool,
    pub(crate) scale: f64,
}

/// Four linear maps around [`attend`](super::attend).
pub(crate) struct KeyValueAttention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
    scale: f64,
}

impl<B: Ops> KeyValueAttention<B> {
    pub(crate) fn load(w: &Weights<B>, names: &AttentionNames, shape: &KeyValueShape) -> Result<Self, WeightsError> {
        let KeyValueShape { width, heads, head_dim, bias, key_bias, scale } = *shape;
        let linear = |name, inner, out, bias| Linear::load_with_bias(&w.module(name), inner, out, bias);
        let inner = heads * head_dim;
        Ok(Self {
            query: linear(names.query, width, inner, bias)?,
            key: linear(names.key, width, inner, key_bias)?,
            value: linear(names.value, width, inner, bias)?,
            output: linear(names.output, inner, width, bias)?,
            heads,
            scale,
        })
    }

    /// Every position of `x` [batch, seq, width] sees every other that the bias does not hide.
    pub(crate) fn among(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let (key, value) = self.keys_values(x.clone());
        self.over(x, key, value, bias)
    }

    /// As [`KeyValueAttention::among`], behind the tokens of earlier steps.
    pub(crate) fn behind_past(
        &self,
        x: Tensor<B, 3>,
        bias: Option<Tensor<B, 4>>,
        layer: usize,
        pass: &mut Pass<'_, B>,
    ) -> Tensor<B, 3> {
        let (key, value) = self.keys_values(x.clone());
        let (key, value) = pass.with_past(layer, key, value);
        self.over(x, key, value, bias)
    }

    /// `x` sees `memory` [batch, source, width]; in a later step what was made of it in the first one.
    pub(crate) fn over_memory(
        &self,
        x: Tensor<B, 3>,
        memory: Option<&Tensor<B, 3>>,
        bias: Option<Tensor<B, 4>>,
        layer: usize,
        pass: &mut Pass<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let make = || memory.map(|memory| self.keys_values(memory.clone()));
        let (key, value) = pass.with_memory(layer, make)?;
        Ok(self.over(x, key, value, bias))
    }

    fn keys_values(&self, x: Tensor<B, 3>) -> (Tensor<B, 4>, Tensor<B, 4>) {
        let heads = |linear: &Linear<B>| split_heads(linear.forward(x.clone()), self.heads);
        (heads(&self.key), heads(&self.value))
    }

    fn over(
        &self,
        x: Tensor<B, 3>,
        key: Tensor<B, 4>,
        value: Tensor<B, 4>,
        bias: Option<Tensor<B, 4>>,
    ) -> Tensor<B, 3> {
        let query = split_heads(self.query.forward(x), self.heads);
        self.output.forward(attend(query, key, value, self.scale, bias))
    }
}
