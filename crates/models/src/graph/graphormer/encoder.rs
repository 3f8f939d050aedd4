//! From nodes to hidden states: their features, and a stack of transformer layers over all nodes
//! and a token for the graph.

use super::{
    GraphormerConfig, LAYER_NORM_EPS,
    arguments::{integers, size},
    bias::GraphBias,
};
use burn_tensor::{DType, Tensor};
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{AttentionNames, AttentionShape, Embedding, LayerNorm, Linear, Mlp, SelfAttention},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};

/// `GraphormerGraphEncoder`.
pub(super) struct GraphEncoder<B: Ops> {
    graph_node_feature: NodeFeatures<B>,
    graph_attn_bias: GraphBias<B>,
    embed_scale: Option<f64>,
    /// A separate linear projection, which checkpoints trained with quantisation noise have.
    quant_noise: Option<Linear<B>>,
    emb_layer_norm: Option<LayerNorm<B>>,
    layers: LayerStack<B, GraphLayer<B>>,
}

impl<B: Ops> GraphEncoder<B> {
    pub(super) fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.embedding_dim;
        if config.pre_layernorm {
            // transformers makes this norm and never calls it.
            ["weight", "bias"]
                .iter()
                .for_each(|name| w.module("final_layer_norm").mark_unused(name));
        }
        Ok(Self {
            graph_node_feature: NodeFeatures::load(config, &w.module("graph_node_feature"))?,
            graph_attn_bias: GraphBias::load(config, &w.module("graph_attn_bias"))?,
            embed_scale: config.embed_scale,
            quant_noise: (config.q_noise > 0.0)
                .then(|| Linear::load_with_bias(&w.module("quant_noise"), width, width, false))
                .transpose()?,
            emb_layer_norm: config
                .encoder_normalize_before
                .then(|| LayerNorm::load(&w.module("emb_layer_norm"), width, LAYER_NORM_EPS))
                .transpose()?,
            layers: LayerStack::load(&w.module("layers"), config.num_hidden_layers, {
                let config = config.clone();
                move |_, w| GraphLayer::load(&config, w)
            })?,
        })
    }

    /// [batch, 1 + nodes, width], the graph's own token first.
    pub(super) fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let size = size(inputs)?;
        let mut bias = self.graph_attn_bias.forward(inputs, size)?;
        let mut x = self.graph_node_feature.forward(inputs, size)?;
        if let Some(scale) = self.embed_scale {
            x = x * scale;
        }
        if let Some(map) = &self.quant_noise {
            x = map.forward(x);
        }
        if let Some(norm) = &self.emb_layer_norm {
            x = norm.forward(x);
        }
        context.trace_embed(&x)?;
        self.layers.fold(context, x, &mut bias, |x, at, context| {
            let x = at.layer.forward(x, at.shared.clone());
            context.trace_layer(at.depth, &x)?;
            Ok(x)
        })
    }
}

/// `GraphormerGraphNodeFeature`.
struct NodeFeatures<B: Ops> {
    atom_encoder: Embedding<B>,
    in_degree_encoder: Embedding<B>,
    out_degree_encoder: Embedding<B>,
    graph_token: Tensor<B, 2>,
    /// The rows of the three tables.
    counts: [usize; 3],
}

impl<B: Ops> NodeFeatures<B> {
    fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let width = config.embedding_dim;
        // One more atom, because 0 is padding.
        let counts = [
            config.num_atoms + 1,
            config.num_in_degree,
            config.num_out_degree,
        ];
        let table = |name, count| Embedding::load(&w.module(name), count, width);
        Ok(Self {
            atom_encoder: table("atom_encoder", counts[0])?,
            in_degree_encoder: table("in_degree_encoder", counts[1])?,
            out_degree_encoder: table("out_degree_encoder", counts[2])?,
            graph_token: w.module("graph_token").tensor("weight", [1, width])?,
            counts,
        })
    }

    /// [batch, 1 + nodes, width]; summed in f32 and rounded once.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        [batch, nodes, features]: [usize; 3],
    ) -> Result<Tensor<B, 3>, ForwardError> {
        let (known, _) = integers::<B, 3>(inputs, "input_nodes", &[batch, nodes])?;
        let known = inputs.checked_indices(
            "input_nodes",
            known.to_vec(),
            [batch, nodes * features],
            self.counts[0],
        )?;
        let known = self.atom_encoder.forward(known);
        let (dtype, width) = (known.dtype(), known.dims()[2]);
        // Summed in f32, and rounded once.
        let known = known
            .cast(DType::F32)
            .reshape([batch, nodes, features, width])
            .sum_dim(2);
        let degrees = |name, table: &Embedding<B>, count| {
            let (values, _) = integers::<B, 2>(inputs, name, &[batch, nodes])?;
            let indices = inputs.checked_indices(name, values.to_vec(), [batch, nodes], count)?;
            Ok::<_, ForwardError>(table.forward(indices).cast(DType::F32))
        };
        let x = known.reshape([batch, nodes, width])
            + degrees("in_degree", &self.in_degree_encoder, self.counts[1])?
            + degrees("out_degree", &self.out_degree_encoder, self.counts[2])?;
        let token = self
            .graph_token
            .clone()
            .reshape([1, 1, width])
            .expand([batch, 1, width]);
        Ok(Tensor::cat(vec![token, x.cast(dtype)], 1))
    }
}

const ATTENTION: AttentionNames = AttentionNames {
    query: "self_attn.q_proj",
    key: "self_attn.k_proj",
    value: "self_attn.v_proj",
    output: "self_attn.out_proj",
};

/// `GraphormerGraphEncoderLayer`: norms before the two sublayers, or after their sums.
struct GraphLayer<B: Ops> {
    self_attn: SelfAttention<B>,
    self_attn_layer_norm: LayerNorm<B>,
    feed_forward: Mlp<B>,
    final_layer_norm: LayerNorm<B>,
    pre_layernorm: bool,
}

impl<B: Ops> GraphLayer<B> {
    fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner) = (config.embedding_dim, config.ffn_embedding_dim);
        let shape = AttentionShape {
            width,
            heads: config.num_attention_heads,
            bias: config.bias,
        };
        Ok(Self {
            self_attn: SelfAttention::load_with_output_bias(w, &ATTENTION, &shape, config.bias)?,
            self_attn_layer_norm: LayerNorm::load(
                &w.module("self_attn_layer_norm"),
                width,
                LAYER_NORM_EPS,
            )?,
            feed_forward: Mlp {
                up: Linear::load(&w.module("fc1"), width, inner)?,
                activation: config.activation_fn,
                down: Linear::load(&w.module("fc2"), inner, width)?,
            },
            final_layer_norm: LayerNorm::load(
                &w.module("final_layer_norm"),
                width,
                LAYER_NORM_EPS,
            )?,
            pre_layernorm: config.pre_layernorm,
        })
    }

    fn forward(&self, x: Tensor<B, 3>, bias: Tensor<B, 4>) -> Tensor<B, 3> {
        let attend = |x| self.self_attn.forward(x, Some(bias));
        if self.pre_layernorm {
            let x = x.clone() + attend(self.self_attn_layer_norm.forward(x));
            return x.clone() + self.feed_forward.forward(self.final_layer_norm.forward(x));
        }
        let x = self.self_attn_layer_norm.forward_sum(attend(x.clone()), x);
        self.final_layer_norm
            .forward_sum(self.feed_forward.forward(x.clone()), x)
    }
}
