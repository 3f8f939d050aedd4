//! A layer of Llama's decoder: attention, and a perceptron that may be a mixture of experts.

use super::{
    causal_decoder::{DecoderLayer, Place, States},
    llama_decoder::{LlamaFields, LlamaShape},
};
use crate::{
    backend::Ops,
    layer::{Experts, GatedFeedForward, GroupedAttention, RmsNorm, View},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// Attention and a perceptron, each behind a norm.
pub(crate) struct Layer<B: Ops> {
    input_layernorm: RmsNorm<B>,
    self_attn: GroupedAttention<B>,
    post_attention_layernorm: RmsNorm<B>,
    mlp: Perceptron<B>,
    window: Option<usize>,
}

/// What stands behind attention.
enum Perceptron<B: Ops> {
    Single(GatedFeedForward<B>),
    Mixture(Experts<B>),
}

impl<B: Ops> Perceptron<B> {
    fn load(fields: &LlamaFields, shape: &LlamaShape, index: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths = [fields.hidden_size, fields.intermediate_size];
        match shape.experts.get(index).copied().flatten() {
            Some(experts) => Ok(Self::Mixture(Experts::load(&w.module_named(&["mlp", "block_sparse_moe"]), experts)?)),
            None => {
                let (w, names) = (w.module("mlp"), (shape.gate_and_up, "down_proj"));
                GatedFeedForward::load(&w, names, widths, fields.hidden_act, shape.mlp_bias).map(Self::Single)
            }
        }
    }
}

impl<B: Ops> Layer<B> {
    pub(super) fn load(
        fields: &LlamaFields,
        shape: &LlamaShape,
        (index, window): (usize, Option<usize>),
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let norm = |name| RmsNorm::load(&w.module(name), fields.hidden_size, fields.rms_norm_eps);
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attn: shape.attention(fields, &w.module("self_attn"))?,
            post_attention_layernorm: norm("post_attention_layernorm")?,
            mlp: Perceptron::load(fields, shape, index, w)?,
            window,
        })
    }
}

impl<B: Ops> DecoderLayer<B> for Layer<B> {
    fn forward(&self, x: Tensor<B, 3>, view: View<'_, B>, place: Place<'_, '_, B>) -> States<B> {
        let (index, pass) = place;
        let normal = self.input_layernorm.forward(x.clone());
        let x = x + self.self_attn.forward(normal, view, (index, &mut *pass));
        let normal = self.post_attention_layernorm.forward(x.clone());
        let fed = match &self.mlp {
            Perceptron::Single(mlp) => mlp.forward(normal),
            Perceptron::Mixture(experts) => {
                let (fed, routing) = experts.forward(normal);
                pass.trace_routing(index, &routing)?;
                fed
            }
        };
        Ok(x + fed)
    }

    fn window(&self) -> Option<usize> {
        self.window
    }
}
