//! Self-attention of encoders: four linear projections around [`attend`](super::attend).

use super::{Linear, attend, project_heads};
use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// The names of the four maps, below the layer.
#[derive(Debug, Clone, Copy)]
pub struct AttentionNames {
    /// Of the queries.
    pub query: &'static str,
    /// Of the keys.
    pub key: &'static str,
    /// Of the values.
    pub value: &'static str,
    /// Of the merged heads.
    pub output: &'static str,
}

impl AttentionNames {
    /// The names in most types.
    pub const DEFAULT: Self = Self {
        query: "q_proj",
        key: "k_proj",
        value: "v_proj",
        output: "out_proj",
    };

    /// The same below `self_attn`.
    pub const SELF_ATTN: Self = Self {
        query: "self_attn.q_proj",
        key: "self_attn.k_proj",
        value: "self_attn.v_proj",
        output: "self_attn.out_proj",
    };
}

/// The width of the layer, its heads, and whether query, key and value have a bias.
pub struct AttentionShape {
    /// The width of the hidden states.
    pub width: usize,
    /// The number of heads.
    pub heads: usize,
    /// Whether the linear projections have a bias.
    pub bias: bool,
}

/// Every token attends to every token that the bias does not hide.
pub struct SelfAttention<B: Ops> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    output: Linear<B>,
    heads: usize,
}

impl<B: Ops> SelfAttention<B> {
    /// Loads the four linear projections, named `names` below `w`.
    pub fn load(
        w: &Weights<B>,
        names: &AttentionNames,
        shape: &AttentionShape,
    ) -> Result<Self, WeightsError> {
        Self::load_with_output_bias(w, names, shape, true)
    }

    /// As [`SelfAttention::load`], with a bias of the output projection only if the configuration
    /// has one.
    pub fn load_with_output_bias(
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
    pub fn forward(&self, x: Tensor<B, 3>, bias: Option<Tensor<B, 4>>) -> Tensor<B, 3> {
        let [query, key, value] = [&self.query, &self.key, &self.value]
            .map(|linear| project_heads(linear, x.clone(), self.heads));
        let scale = (query.dims()[3] as f64).powf(-0.5);
        self.output.forward(attend(query, key, value, scale, bias))
    }
}
