//! The configuration of ModernBERT: `transformers.models.modernbert`.

use crate::{
    config::{ModelConfig, divides_into_heads},
    text::sliding_windows::{LayerType, validate_layer_types},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    layer::{LayerNorm, RopeFields, RopeParameters, Rotary},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ModernBertConfig {
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) hidden_activation: Activation,
    pub(crate) max_position_embeddings: usize,
    pub(crate) norm_eps: f64,
    pub(crate) norm_bias: bool,
    pub(crate) attention_bias: bool,
    pub(crate) mlp_bias: bool,
    pub(crate) decoder_bias: bool,
    pub(crate) classifier_bias: bool,
    pub(crate) classifier_activation: Activation,
    pub(crate) classifier_pooling: ClassifierPooling,
    pub(crate) local_attention: usize,
    pub(crate) layer_types: Option<Vec<LayerType>>,
    pub(crate) global_attn_every_n_layers: usize,
    pub(crate) rope_parameters: Option<RopeByType>,
    pub(crate) global_rope_theta: f64,
    pub(crate) local_rope_theta: f64,
    pub(crate) tie_word_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The state from which a text's label is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClassifierPooling {
    /// The first token.
    Cls,
    /// The mean of the tokens that are not padding.
    Mean,
}

/// Rotary parameters for each type of layer.
#[derive(Debug, Clone, Default, Deserialize)]
// A third type of layer would rotate in transformers alone.
#[serde(deny_unknown_fields)]
pub(crate) struct RopeByType {
    full_attention: Option<RopeParameters>,
    sliding_attention: Option<RopeParameters>,
}

impl ModelConfig for ModernBertConfig {
    /// Training, kernels, and fields that transformers saved and does not read.
    const INERT: &'static [&'static str] = &[
        "cls_token_id",
        "deterministic_flash_attn",
        "initializer_cutoff_factor",
        "layer_norm_eps",
        "position_embedding_type",
        "reference_compile",
        "repad_logits_with_grad",
        "sparse_pred_ignore_index",
        "sparse_prediction",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        if let Some(types) = &self.layer_types {
            validate_layer_types(types, self.num_hidden_layers)?;
        }
        if self.global_attn_every_n_layers == 0 {
            return Err("`global_attn_every_n_layers` is 0".to_owned());
        }
        // The checks above have refused a number of heads that is 0.
        let head_dim = self.hidden_size / self.num_attention_heads;
        self.rope(LayerType::FullAttention).validate(head_dim)?;
        self.rope(LayerType::SlidingAttention).validate(head_dim)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        let mut absent =
            |names: &[&'static str], why| fields.extend(names.iter().map(|name| (*name, why)));
        if head != Head::MaskedLm {
            absent(
                &["decoder_bias", "tie_word_embeddings"],
                "only masked language models have a decoder",
            );
        }
        if head == Head::Base {
            absent(
                &["classifier_activation", "classifier_bias"],
                "the base model has no head",
            );
        }
        if head != Head::SequenceClassification {
            absent(&["classifier_pooling"], "only classifiers of texts pool");
        }
        if self.layer_types.is_some() {
            absent(&["global_attn_every_n_layers"], "`layer_types` decides");
        }
        for (kind, name, theta) in [
            (
                LayerType::FullAttention,
                "rope_parameters.full_attention",
                "global_rope_theta",
            ),
            (
                LayerType::SlidingAttention,
                "rope_parameters.sliding_attention",
                "local_rope_theta",
            ),
        ] {
            if !self.kinds().contains(&kind) {
                absent(&[name, theta], "no layer is of this type");
            } else if self
                .rope(kind)
                .parameters
                .is_some_and(|parameters| parameters.rope_theta.is_some())
            {
                absent(&[theta], "`rope_parameters` decides");
            }
        }
        if !self.kinds().contains(&LayerType::SlidingAttention) {
            absent(&["local_attention"], "no layer has a window");
        }
        if !self
            .kinds()
            .iter()
            .any(|kind| self.rope(*kind).reads_max_positions())
        {
            absent(
                &["max_position_embeddings"],
                "the rotary frequencies do not depend on it",
            );
        }
        fields
    }
}

impl ModernBertConfig {
    /// The type of each layer.
    pub(crate) fn kinds(&self) -> Vec<LayerType> {
        self.layer_types.clone().unwrap_or_else(|| {
            // As `ModernBertConfig` derives the list: the first layer sees the whole text.
            (0..self.num_hidden_layers)
                .map(
                    |layer| match layer.is_multiple_of(self.global_attn_every_n_layers) {
                        true => LayerType::FullAttention,
                        false => LayerType::SlidingAttention,
                    },
                )
                .collect()
        })
    }

    fn rope(&self, kind: LayerType) -> RopeFields<'_> {
        let by_type = self.rope_parameters.as_ref();
        let (parameters, theta) = match kind {
            LayerType::FullAttention => (
                by_type.map(|by_type| &by_type.full_attention),
                self.global_rope_theta,
            ),
            LayerType::SlidingAttention => (
                by_type.map(|by_type| &by_type.sliding_attention),
                self.local_rope_theta,
            ),
        };
        RopeFields {
            parameters: parameters.and_then(Option::as_ref),
            // Older files have no parameters but a base for each type of layer.
            theta: Some(theta),
        }
    }

    pub(crate) fn rotary(&self, kind: LayerType) -> Rotary {
        let parameters = self.rope(kind).parameters(self.max_position_embeddings);
        Rotary::new(
            &parameters,
            self.hidden_size / self.num_attention_heads,
            self.max_position_embeddings,
        )
    }

    pub(crate) fn norm<B: Ops>(&self, w: &Weights<B>) -> Result<LayerNorm<B>, WeightsError> {
        LayerNorm::load_with_bias(w, self.hidden_size, self.norm_eps, self.norm_bias)
    }
}
