//! A layer of Llama's decoder: attention, and a perceptron that may be a mixture of experts.

use super::{
    causal_decoder::{DecoderLayer, Place, States},
    llama_decoder::{LlamaFields, LlamaShape},
};
use burn::tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    layer::{Experts, GatedMlp, GroupedAttention, LayerContext, RmsNorm},
    weights::{Weights, WeightsError},
};

/// Attention and a perceptron, each with a norm.
pub(crate) struct LlamaLayer<B: Ops> {
    self_attn: GroupedAttention<B>,
    mlp: LlamaMlp<B>,
    /// Of attention and of the perceptron.
    norms: [RmsNorm<B>; 2],
    norm_position: NormPosition,
    window: Option<usize>,
}

/// Where the norms of attention and of the perceptron stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormPosition {
    /// In front of each.
    Pre,
    /// Behind each, before it is added.
    Post,
}

impl NormPosition {
    /// What the checkpoint calls the two.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::Pre => ["input_layernorm", "post_attention_layernorm"],
            Self::Post => ["post_attention_layernorm", "post_feedforward_layernorm"],
        }
    }
}

/// What stands behind attention.
enum LlamaMlp<B: Ops> {
    Single(GatedMlp<B>),
    Mixture(Experts<B>),
}

impl<B: Ops> LlamaMlp<B> {
    fn load(fields: &LlamaFields, shape: &LlamaShape, index: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let widths = [fields.hidden_size, fields.intermediate_size];
        match shape.experts.get(index).copied().flatten() {
            Some(experts) => Ok(Self::Mixture(Experts::load(&w.module_named(&["mlp", "block_sparse_moe"]), experts)?)),
            None => {
                let (w, names) = (w.module("mlp"), (shape.gate_and_up, "down_proj"));
                GatedMlp::load(&w, names, widths, fields.hidden_act, shape.mlp_bias).map(Self::Single)
            }
        }
    }

    fn forward(&self, x: Tensor<B, 3>, (index, context): Place<'_, '_, B>) -> States<B> {
        match self {
            Self::Single(mlp) => Ok(mlp.forward(x)),
            Self::Mixture(experts) => {
                let (fed, routing) = experts.forward(x);
                context.trace_routing(index, &routing)?;
                Ok(fed)
            }
        }
    }
}

impl<B: Ops> LlamaLayer<B> {
    pub(crate) fn load(
        fields: &LlamaFields,
        shape: &LlamaShape,
        (index, window): (usize, Option<usize>),
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let norm = |name| RmsNorm::load(&w.module(name), fields.hidden_size, fields.rms_norm_eps);
        let [attention_norm, mlp_norm] = shape.norm_position.names();
        Ok(Self {
            self_attn: shape.attention(fields, &w.module("self_attn"))?,
            mlp: LlamaMlp::load(fields, shape, index, w)?,
            norms: [norm(attention_norm)?, norm(mlp_norm)?],
            norm_position: shape.norm_position,
            window,
        })
    }

    /// `x` and what `block` adds to it.
    fn add(&self, x: Tensor<B, 3>, norm: &RmsNorm<B>, block: impl FnOnce(Tensor<B, 3>) -> States<B>) -> States<B> {
        Ok(match self.norm_position {
            NormPosition::Pre => x.clone() + block(norm.forward(x))?,
            NormPosition::Post => x.clone() + norm.forward(block(x)?),
        })
    }
}

impl<B: Ops> DecoderLayer<B> for LlamaLayer<B> {
    fn forward(&self, x: Tensor<B, 3>, view: LayerContext<'_, B>, (index, context): Place<'_, '_, B>) -> States<B> {
        let [attention_norm, mlp_norm] = &self.norms;
        let x = self.add(x, attention_norm, |x| Ok(self.self_attn.forward(x, view, (index, &mut *context))))?;
        self.add(x, mlp_norm, |x| self.mlp.forward(x, (index, context)))
    }

    fn window(&self) -> Option<usize> {
        self.window
    }
}
