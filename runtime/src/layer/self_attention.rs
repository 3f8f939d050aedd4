//! Self-attention of encoders: four linear maps around [`attend`](super::attend).

use super::{Linear, attend, split_heads};
use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// Where the four maps are, below the layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttentionNames {
    pub(crate) query: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
    pub(crate) output: &'static str,
}

impl AttentionNames {
    /// Those of most types.
    pub(crate) const PLAIN: Self = Self { query: "q_proj", key: "k_proj", value: "v_proj", output: "out_proj" };

    /// The same below `self_attn`.
    pub(crate) const SELF_ATTN: Self = Self {
        query: "self_attn.q_proj",
        key: "self_attn.k_proj",
        value: "self_attn.v_proj",
        output: "self_attn.out_proj",
    };
}

/// The width of the layer, its heads, and whether query, key and value have a bias.
pub(crate) struct AttentionShape {
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) bias: bool,
}

/// Every token sees every token that the bias does not hide.
pub(crate) struct SelfAttention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
}

impl<B: Ops> SelfAttention<B> {
    pub(crate) fn load(w: &Weights<B>, names: &AttentionNames, shape: &AttentionShape) -> Result<Self, WeightsError> {
        Self::load_with_output_bias(w, names, shape, true)
    }

    /// As [`SelfAttention::load`], with a bias behind the heads only where the configuration says so.
    pub(crate) fn load_with_output_bias(
        w: &Weights<B>,
        names: &AttentionNames,
        shape: &AttentionShape,
        output_bias: bool,
    ) -> Result<Self, WeightsError> {
        let AttentionShape { width, heads, bias } = *shape;
        let square = |name, bias| Linear::load_with_bias(&w.module(name), width, width, bias);
        Ok(Self {
            query: square(names.query, bias)?,
            key: square(names.key, bias)?,
            value: square(names.value, bias)?,
            output: square(names.output, output_bias)?,
            heads,
        })
    }

    /// [batch, seq, width]; `bias` as [`attend`](super::attend) takes it.
    pub(crate) fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let heads = |linear: &Linear<B>| split_heads(linear.forward(x.clone()), self.heads);
        let (query, key, value) = (heads(&self.query), heads(&self.key), heads(&self.value));
        let scale = (query.dims()[3] as f64).powf(-0.5);
        self.output.forward(attend(query, key, value, scale, bias))
    }
}
