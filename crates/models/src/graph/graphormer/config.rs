//! The `config.json` of Graphormer.

use crate::config::{ModelConfig, divides};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::backend::Activation;
use testgen_types::Head;

/// `nn.LayerNorm` as it comes.
// No field of the configuration changes it.
pub(super) const LAYER_NORM_EPS: f64 = 1e-5;

/// The `edge_type` that reads the edges of the whole shortest path; any other word reads the edge
/// between two nodes alone.
const MULTI_HOP: &str = "multi_hop";

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GraphormerConfig {
    pub(super) num_classes: usize,
    pub(super) num_atoms: usize,
    pub(super) num_edges: usize,
    pub(super) num_in_degree: usize,
    pub(super) num_out_degree: usize,
    pub(super) num_spatial: usize,
    pub(super) num_edge_dis: usize,
    pub(super) multi_hop_max_dist: i64,
    #[expect(
        dead_code,
        reason = "the collator reads it from the file; here it is checked to be a number"
    )]
    pub(super) spatial_pos_max: i64,
    pub(super) edge_type: String,
    pub(super) share_input_output_embed: bool,
    pub(super) num_hidden_layers: usize,
    pub(super) embedding_dim: usize,
    pub(super) hidden_size: Option<usize>,
    pub(super) ffn_embedding_dim: usize,
    pub(super) num_attention_heads: usize,
    pub(super) encoder_normalize_before: bool,
    pub(super) pre_layernorm: bool,
    pub(super) activation_fn: Activation,
    pub(super) embed_scale: Option<f64>,
    pub(super) freeze_embeddings: bool,
    pub(super) q_noise: f64,
    pub(super) kdim: Option<usize>,
    pub(super) vdim: Option<usize>,
    pub(super) bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl GraphormerConfig {
    pub(super) fn multi_hop(&self) -> bool {
        self.edge_type == MULTI_HOP
    }

    /// The number of edges of a path that are read, or `None` for all.
    pub(super) fn hops(&self) -> Option<usize> {
        usize::try_from(self.multi_hop_max_dist)
            .ok()
            // transformers reads all of a path for 0 and below.
            .filter(|hops| *hops > 0)
    }
}

impl ModelConfig for GraphormerConfig {
    /// Training (initialisation, frozen layers, blocks of quantisation noise), what a call returns
    /// (`traceable`), and fields that the files have and transformers never reads: `num_layers`
    /// exists besides `num_hidden_layers`, attention is self-attention whatever `self_attention`
    /// says, and nothing holds a graph to `max_nodes`.
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
        divides(
            "embedding_dim",
            self.embedding_dim,
            "num_attention_heads",
            self.num_attention_heads,
        )?;
        for (name, width) in [
            ("hidden_size", self.hidden_size),
            ("kdim", self.kdim),
            ("vdim", self.vdim),
        ] {
            if let Some(width) = width.filter(|width| *width != self.embedding_dim) {
                return Err(format!(
                    "`{name}` {width} is not `embedding_dim` {}, as it has to be",
                    self.embedding_dim
                ));
            }
        }
        for (name, on) in [
            ("share_input_output_embed", self.share_input_output_embed),
            ("freeze_embeddings", self.freeze_embeddings),
        ] {
            if on {
                return Err(format!(
                    "`{name}` is true, which transformers cannot compute either"
                ));
            }
        }
        Ok(())
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![(
            "spatial_pos_max",
            "it is for the collator, and the recorded bias is collated",
        )];
        if head == Head::Base {
            fields.push(("num_classes", "the classifier reads it"));
        }
        if self.embed_scale.is_none() && self.encoder_normalize_before {
            fields.push((
                "embed_scale",
                "the norm after it removes a scale, except for its eps",
            ));
        }
        if self.q_noise > 0.0 {
            fields.push(("q_noise", "any amount above 0 brings the same linear map"));
        }
        if head == Head::GraphClassification && self.num_hidden_layers == 1 {
            let alike = "a single layer reads the graph's token, which sees all nodes alike";
            fields.extend([("edge_type", alike), ("multi_hop_max_dist", alike)]);
        }
        if !self.multi_hop() {
            fields.push((
                "edge_type",
                "any word but `multi_hop` reads the edge between two nodes alone",
            ));
            let paths = "only `multi_hop` reads paths";
            fields.extend([("multi_hop_max_dist", paths), ("num_edge_dis", paths)]);
        }
        fields
    }
}
