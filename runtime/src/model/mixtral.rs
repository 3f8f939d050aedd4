//! Mixtral (Jiang et al. 2024): `transformers.models.mixtral`. Mistral with a mixture of experts in every layer.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{DECODER_HEADS, LlamaFields, LlamaShape},
    load::LoadError,
    network::Network,
};
use crate::{backend::Ops, config::Config, layer::ExpertsShape, weights::Weights};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct MixtralConfig {
    #[serde(flatten)]
    fields: LlamaFields,
    sliding_window: Option<usize>,
    num_experts_per_tok: usize,
    #[serde(alias = "num_experts", default = "default_experts")]
    num_local_experts: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn default_experts() -> usize {
    8
}

impl Config for MixtralConfig {
    /// What is returned beside the logits, and training.
    const INERT: &'static [&'static str] = &["output_router_logits", "router_jitter_noise"];

    fn defaults() -> Value {
        json!({
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": 131_072,
            "num_key_value_heads": 8,
            "num_experts_per_tok": 2,
        })
    }

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        ExpertsShape::validate(self.num_experts_per_tok, self.num_local_experts)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        self.fields.without_effect(head)
    }
}

/// `model_type` `mixtral`.
pub(crate) struct Mixtral;

impl Family for Mixtral {
    type Config = MixtralConfig;
    const NAME: &'static str = "Mixtral";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &MixtralConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let experts = ExpertsShape {
            width: config.fields.hidden_size,
            inner: config.fields.intermediate_size,
            count: config.num_local_experts,
            chosen: config.num_experts_per_tok,
            normalised: true,
            activation: config.fields.hidden_act,
            names: ["w1", "w3", "w2"],
        };
        let shape = LlamaShape {
            windows: vec![config.sliding_window; config.fields.num_hidden_layers],
            experts: vec![Some(experts); config.fields.num_hidden_layers],
            ..LlamaShape::plain(&config.fields)
        };
        shape.load(&config.fields, head, labels, w)
    }
}
