//! The fields that Llama and its relatives have in `config.json`, and the shape of their decoder.

use super::text_head::fields_of_other_heads;
use crate::config::{divides, divides_into_heads};
use serde::Deserialize;
use testgen_nn::{
    backend::Activation,
    layer::{EXPERT_NAMES, ExpertsShape, ProjectionNames, RopeFields, RopeParameters},
};
use testgen_types::Head;

/// The fields of `config.json` that every such type has.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LlamaFields {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) num_key_value_heads: Option<usize>,
    pub(crate) head_dim: Option<usize>,
    pub(crate) hidden_act: Activation,
    pub(crate) max_position_embeddings: usize,
    pub(crate) rms_norm_eps: f64,
    pub(crate) tie_word_embeddings: bool,
    pub(crate) pad_token_id: Option<i64>,
    // As `RopeConfig` has them; these fields are flattened already, and serde takes no field out of
    // a second layer.
    rope_parameters: Option<RopeParameters>,
    rope_scaling: Option<RopeParameters>,
    rope_theta: Option<f64>,
}

impl LlamaFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        // Heads with a width in a separate field need not divide the model: `o_proj` maps them
        // back.
        if self.head_dim.is_none() {
            divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        }
        self.validate_for(self.head_dim())
    }

    /// For types whose heads have another default width.
    pub(crate) fn validate_for(&self, head_dim: usize) -> Result<(), String> {
        // Without the field every head has a key, and one divides any number.
        let groups = self.num_key_value_heads.unwrap_or(1);
        divides(
            "num_attention_heads",
            self.num_attention_heads,
            "num_key_value_heads",
            groups,
        )?;
        self.rope().validate(head_dim)
    }

    /// The rotary parameters in force.
    pub(crate) fn rope_parameters(&self) -> RopeParameters {
        self.rope().parameters(self.max_position_embeddings)
    }

    /// See [`Config::inert_fields`](crate::config::ModelConfig::inert_fields).
    pub(crate) fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = fields_of_other_heads(head);
        fields.extend(
            self.rope()
                .inert_fields(self.max_position_embeddings, self.head_dim()),
        );
        fields
    }

    fn rope(&self) -> RopeFields<'_> {
        // The older name takes precedence, as in `rope_scaling or self.rope_parameters` of
        // transformers.
        let parameters = self.rope_scaling.as_ref().or(self.rope_parameters.as_ref());
        RopeFields {
            parameters,
            theta: self.rope_theta,
        }
    }

    /// A mixture of `count` experts as wide as the MLP; each token takes `chosen`, whose weights
    /// sum to one.
    pub(crate) fn experts(&self, count: usize, chosen: usize) -> ExpertsShape {
        ExpertsShape {
            width: self.hidden_size,
            inner: self.intermediate_size,
            count,
            chosen,
            // As Mixtral always divides; OLMoE and Qwen3-MoE have a field for it.
            normalised: true,
            activation: self.hidden_act,
            names: EXPERT_NAMES,
        }
    }

    /// The width of a head. Without a field for it, the width of the model divided among the heads.
    pub(crate) fn head_dim(&self) -> usize {
        // The quotient is computed in any case, also before `validate` has refused 0 heads.
        self.head_dim
            .unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }
}

/// The differences between the types.
#[derive(Clone)]
pub(crate) struct LlamaShape {
    pub(crate) head_dim: usize,
    pub(crate) key_value_heads: usize,
    pub(crate) query_bias: bool,
    pub(crate) output_bias: bool,
    pub(crate) mlp_bias: bool,
    pub(crate) projections: ProjectionNames<3>,
    pub(crate) gate_and_up: ProjectionNames<2>,
    pub(crate) rope: RopeParameters,
    pub(crate) norms: QueryKeyNorms,
    pub(crate) norm_position: NormPosition,
    /// Whether weights of norms are added to one.
    pub(crate) unit_offset: bool,
    /// Factor of the token embeddings.
    pub(crate) embedding_scale: Option<f64>,
    /// Of a single MLP; a mixture has its own.
    pub(crate) activation: Activation,
    /// The bound of query, key and value.
    pub(crate) clip: Option<f64>,
    /// One for each layer whose MLP is a mixture; layers without one have a single MLP.
    pub(crate) experts: Vec<Option<ExpertsShape>>,
    /// One for each layer; `None` sees every earlier token.
    pub(crate) windows: Vec<Option<usize>>,
}

/// The dimensions over which query and key are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKeyNorms {
    None,
    EachHead,
    AllHeads,
}

impl LlamaShape {
    /// Llama's own, without biases and windows.
    pub(crate) fn defaults(fields: &LlamaFields) -> Self {
        Self {
            head_dim: fields.head_dim(),
            // As `LlamaConfig` fills in.
            key_value_heads: fields
                .num_key_value_heads
                .unwrap_or(fields.num_attention_heads),
            query_bias: false,
            output_bias: false,
            mlp_bias: false,
            projections: ProjectionNames::Apart(["q_proj", "k_proj", "v_proj"]),
            gate_and_up: ProjectionNames::Apart(["gate_proj", "up_proj"]),
            rope: fields.rope_parameters(),
            norms: QueryKeyNorms::None,
            norm_position: NormPosition::Pre,
            unit_offset: false,
            embedding_scale: None,
            clip: None,
            experts: Vec::new(),
            activation: fields.hidden_act,
            windows: vec![None; fields.num_hidden_layers],
        }
    }
}

/// The position of the norms of attention and of the MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormPosition {
    /// Before each.
    Pre,
    /// After each, before it is added.
    Post,
}
