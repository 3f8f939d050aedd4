//! Graphormer (Ying et al. 2021): `transformers.models.deprecated.graphormer`, which is in transformers up to 4.57.

mod arguments;
mod bias;
mod encoder;

use crate::{
    class::Head,
    config::{Config, divides},
    family::Family,
    load::LoadError,
    network::Network,
};
use burn::tensor::Tensor;
use encoder::GraphEncoder;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{LayerNorm, Linear},
    weights::{Weights, WeightsError},
};

/// `nn.LayerNorm` as it comes: no field of the configuration changes it.
const LAYER_NORM_EPS: f64 = 1e-5;

/// The `edge_type` that reads the edges of the whole shortest path; any other word reads the edge between two nodes alone.
const MULTI_HOP: &str = "multi_hop";

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct GraphormerConfig {
    num_classes: usize,
    num_atoms: usize,
    num_edges: usize,
    num_in_degree: usize,
    num_out_degree: usize,
    num_spatial: usize,
    num_edge_dis: usize,
    multi_hop_max_dist: i64,
    spatial_pos_max: i64,
    edge_type: String,
    share_input_output_embed: bool,
    num_hidden_layers: usize,
    embedding_dim: usize,
    hidden_size: Option<usize>,
    ffn_embedding_dim: usize,
    num_attention_heads: usize,
    encoder_normalize_before: bool,
    pre_layernorm: bool,
    activation_fn: Activation,
    embed_scale: Option<f64>,
    freeze_embeddings: bool,
    q_noise: f64,
    kdim: Option<usize>,
    vdim: Option<usize>,
    bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for GraphormerConfig {
    fn default() -> Self {
        Self {
            num_classes: 1,
            num_atoms: 4608,
            num_edges: 1536,
            num_in_degree: 512,
            num_out_degree: 512,
            num_spatial: 512,
            num_edge_dis: 128,
            multi_hop_max_dist: 5,
            spatial_pos_max: 1024,
            edge_type: MULTI_HOP.to_owned(),
            share_input_output_embed: false,
            num_hidden_layers: 12,
            embedding_dim: 768,
            hidden_size: None,
            ffn_embedding_dim: 768,
            num_attention_heads: 32,
            encoder_normalize_before: false,
            pre_layernorm: false,
            activation_fn: Activation::Gelu,
            embed_scale: None,
            freeze_embeddings: false,
            q_noise: 0.0,
            kdim: None,
            vdim: None,
            bias: true,
            rest: Map::new(),
        }
    }
}

impl GraphormerConfig {
    fn multi_hop(&self) -> bool {
        self.edge_type == MULTI_HOP
    }

    /// The number of edges of a path that are read; none for all.
    fn hops(&self) -> Option<usize> {
        usize::try_from(self.multi_hop_max_dist).ok().filter(|hops| *hops > 0)
    }
}

impl Config for GraphormerConfig {
    /// Training (initialisation, frozen layers, blocks of quantisation noise), what a call returns (`traceable`), and fields
    /// that the files have and transformers never reads: `num_layers` stands beside `num_hidden_layers`, attention is
    /// self-attention whatever `self_attention` says, and nothing holds a graph to `max_nodes`.
    const INERT: &'static [&'static str] = &[
        "apply_graphormer_init",
        "max_nodes",
        "no_token_positional_embeddings",
        "num_layers",
        "num_trans_layers_to_freeze",
        "qn_block_size",
        "remove_head",
        "self_attention",
        "traceable",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("embedding_dim", self.embedding_dim, "num_attention_heads", self.num_attention_heads)?;
        for (name, width) in [("hidden_size", self.hidden_size), ("kdim", self.kdim), ("vdim", self.vdim)] {
            if let Some(width) = width.filter(|width| *width != self.embedding_dim) {
                return Err(format!("`{name}` {width} is not `embedding_dim` {}, as it has to be", self.embedding_dim));
            }
        }
        for (name, on) in
            [("share_input_output_embed", self.share_input_output_embed), ("freeze_embeddings", self.freeze_embeddings)]
        {
            if on {
                return Err(format!("`{name}` is true, which transformers cannot compute either"));
            }
        }
        Ok(())
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("spatial_pos_max", "it is for the collator, and the recorded bias is collated")];
        if head == Head::Base {
            fields.push(("num_classes", "the classifier reads it"));
        }
        if self.embed_scale.is_none() && self.encoder_normalize_before {
            fields.push(("embed_scale", "the norm behind it takes a scale away, but for its eps"));
        }
        if self.q_noise > 0.0 {
            fields.push(("q_noise", "any amount above 0 brings the same linear map"));
        }
        if head == Head::GraphClassification && self.num_hidden_layers == 1 {
            let alike = "a single layer reads the graph's token, which sees all nodes alike";
            fields.extend([("edge_type", alike), ("multi_hop_max_dist", alike)]);
        }
        if !self.multi_hop() {
            fields.push(("edge_type", "any word but `multi_hop` reads the edge between two nodes alone"));
            let paths = "only `multi_hop` reads paths";
            fields.extend([("multi_hop_max_dist", paths), ("num_edge_dis", paths)]);
        }
        fields
    }
}

/// `model_type` `graphormer`.
pub(crate) struct Graphormer;

impl Family for Graphormer {
    type Config = GraphormerConfig;
    const NAME: &'static str = "Graphormer";
    const HEADS: &'static [Head] = &[Head::Base, Head::GraphClassification];

    fn load<B: Ops>(
        config: &GraphormerConfig,
        head: Head,
        _: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let base = if head == Head::Base { w.module("") } else { w.module("encoder") };
        let classifier = match head {
            Head::Base => None,
            _ => Some(Classifier::load(config, &w.module("classifier"))?),
        };
        let width = config.embedding_dim;
        Ok(Box::new(GraphormerModel {
            graph_encoder: GraphEncoder::load(config, &base.module("graph_encoder"))?,
            lm_head_transform_weight: Linear::load(&base.module("lm_head_transform_weight"), width, width)?,
            activation_fn: config.activation_fn,
            layer_norm: LayerNorm::load(&base.module("layer_norm"), width, LAYER_NORM_EPS)?,
            classifier,
        }))
    }
}

/// `GraphormerDecoderHead`.
struct Classifier<B: Ops> {
    classifier: Linear<B>,
    /// One number for all classes.
    lm_output_learned_bias: Tensor<B, 1>,
}

impl<B: Ops> Classifier<B> {
    fn load(config: &GraphormerConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, classes) = (config.embedding_dim, config.num_classes);
        Ok(Self {
            classifier: Linear::load_with_bias(&w.module("classifier"), width, classes, false)?,
            lm_output_learned_bias: w.tensor("lm_output_learned_bias", [1])?,
        })
    }

    /// [batch, width] to [batch, classes].
    fn forward(&self, graph: Tensor<B, 2>) -> Tensor<B, 2> {
        self.classifier.forward(graph) + self.lm_output_learned_bias.clone().reshape([1, 1])
    }
}

struct GraphormerModel<B: Ops> {
    graph_encoder: GraphEncoder<B>,
    lm_head_transform_weight: Linear<B>,
    activation_fn: Activation,
    layer_norm: LayerNorm<B>,
    classifier: Option<Classifier<B>>,
}

impl<B: Ops> GraphormerModel<B> {
    /// Of each token of [batch, tokens, width] by itself.
    fn transform(&self, hidden: Tensor<B, 3>) -> Tensor<B, 3> {
        let hidden = activate(self.lm_head_transform_weight.forward(hidden), self.activation_fn);
        self.layer_norm.forward(hidden)
    }
}

impl<B: Ops> Network<B> for GraphormerModel<B> {
    /// `last_hidden_state` [batch, 1 + nodes, width], the graph's own token first; or `logits` [batch, classes] of that token.
    fn forward(&self, inputs: &Inputs<'_, B>, context: &mut ForwardContext<'_, B>) -> Result<(), ForwardError> {
        let hidden = self.graph_encoder.forward(inputs, context)?;
        let Some(classifier) = &self.classifier else {
            return context.output("last_hidden_state", self.transform(hidden));
        };
        let [batch, _, width] = hidden.dims();
        let graph = self.transform(hidden.narrow(1, 0, 1)).reshape([batch, width]);
        context.output("logits", classifier.forward(graph))
    }
}
