//! A layer of Llama's decoder: attention, and an MLP that may be a mixture of experts.

use super::{
    causal_decoder::{DecoderLayer, States},
    llama_shape::{LlamaFields, LlamaShape, NormPosition, QueryKeyNorms},
};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::LayerSlot,
    layer::{
        Experts, GatedMlp, GroupedAttention, HeadCounts, LayerContext, Linear, Mixed, Projections,
        RmsNorm,
    },
    weights::{Weights, WeightsError},
};

/// Attention and an MLP, each with a norm.
pub(crate) struct LlamaLayer<B: Ops> {
    self_attn: GroupedAttention<B>,
    mlp: LlamaMlp<B>,
    /// Of attention and of the MLP.
    norms: [RmsNorm<B>; 2],
    norm_position: NormPosition,
    window: Option<usize>,
}

impl NormPosition {
    /// The names of the two in the checkpoint.
    fn names(self) -> [&'static str; 2] {
        match self {
            // The second is named for its place after attention; it is the norm before the MLP.
            Self::Pre => ["input_layernorm", "post_attention_layernorm"],
            Self::Post => ["post_attention_layernorm", "post_feedforward_layernorm"],
        }
    }
}

/// The block after attention.
enum LlamaMlp<B: Ops> {
    Single(GatedMlp<B>),
    Mixture(Experts<B>),
}

impl<B: Ops> LlamaMlp<B> {
    fn load(
        fields: &LlamaFields,
        shape: &LlamaShape,
        index: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let widths = [fields.hidden_size, fields.intermediate_size];
        // A type without mixtures has an empty list.
        match shape.experts.get(index).copied().flatten() {
            // Files of Mixtral have the second name, which transformers 5 converts to the first.
            Some(experts) => Ok(Self::Mixture(Experts::load(
                &w.module_named(&["mlp", "block_sparse_moe"]),
                experts,
            )?)),
            None => {
                let (w, names) = (w.module("mlp"), (shape.gate_and_up, "down_proj"));
                GatedMlp::load(&w, names, widths, shape.activation, shape.mlp_bias)
                    .map(Self::Single)
            }
        }
    }

    fn forward(&self, x: Tensor<B, 3>, slot: LayerSlot<'_, '_, B>) -> States<B> {
        match self {
            Self::Single(mlp) => Ok(mlp.forward(x)),
            Self::Mixture(experts) => {
                let Mixed { hidden, routing } = experts.forward(x);
                // A choice is not continuous: checks compare only tokens with the same experts.
                slot.context.trace_routing(slot.index, &routing)?;
                Ok(hidden)
            }
        }
    }
}

impl<B: Ops> LlamaLayer<B> {
    pub(crate) fn load(
        fields: &LlamaFields,
        shape: &LlamaShape,
        index: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let [attention_norm, mlp_norm] = shape.norm_position.names();
        Ok(Self {
            self_attn: shape.attention(fields, &w.module("self_attn"))?,
            mlp: LlamaMlp::load(fields, shape, index, w)?,
            norms: [
                shape.norm(fields, &w.module(attention_norm))?,
                shape.norm(fields, &w.module(mlp_norm))?,
            ],
            norm_position: shape.norm_position,
            window: shape.windows[index],
        })
    }

    /// `x` and what `block` adds to it.
    fn add(
        &self,
        x: Tensor<B, 3>,
        norm: &RmsNorm<B>,
        block: impl FnOnce(Tensor<B, 3>) -> States<B>,
    ) -> States<B> {
        Ok(match self.norm_position {
            NormPosition::Pre => x.clone() + block(norm.forward(x))?,
            // The norm is of the block's result: the residual itself is never normalised.
            NormPosition::Post => x.clone() + norm.forward(block(x)?),
        })
    }
}

impl<B: Ops> DecoderLayer<B> for LlamaLayer<B> {
    fn forward(
        &self,
        x: Tensor<B, 3>,
        view: LayerContext<'_, B>,
        LayerSlot { index, context }: LayerSlot<'_, '_, B>,
    ) -> States<B> {
        let [attention_norm, mlp_norm] = &self.norms;
        let x = self.add(x, attention_norm, |x| {
            Ok(self.self_attn.forward(
                x,
                view,
                LayerSlot {
                    index,
                    context: &mut *context,
                },
            ))
        })?;
        self.add(x, mlp_norm, |x| {
            self.mlp.forward(x, LayerSlot { index, context })
        })
    }

    fn window(&self) -> Option<usize> {
        self.window
    }
}

impl LlamaShape {
    fn attention<B: Ops>(
        &self,
        fields: &LlamaFields,
        w: &Weights<B>,
    ) -> Result<GroupedAttention<B>, WeightsError> {
        let (width, head_dim) = (fields.hidden_size, self.head_dim);
        let heads = HeadCounts {
            query: fields.num_attention_heads,
            key_value: self.key_value_heads,
        };
        let (queries, keys) = (heads.query * head_dim, heads.key_value * head_dim);
        let norms = match self.norms {
            QueryKeyNorms::None => None,
            QueryKeyNorms::EachHead => Some([head_dim, head_dim]),
            // One norm before the heads are split, so that its weights are as many as all heads are
            // wide.
            QueryKeyNorms::AllHeads => Some([queries, keys]),
        };
        let norm = |name, width| RmsNorm::load(&w.module(name), width, fields.rms_norm_eps);
        let projections = Projections::load(
            w,
            self.projections,
            width,
            [queries, keys, keys],
            self.query_bias,
        )?;
        let output = Linear::load_with_bias(&w.module("o_proj"), queries, width, self.output_bias)?;
        Ok(GroupedAttention {
            norms: match norms {
                Some([query, key]) => Some([norm("q_norm", query)?, norm("k_norm", key)?]),
                None => None,
            },
            clip: self.clip,
            ..GroupedAttention::defaults(projections, output, heads, head_dim)
        })
    }
}
