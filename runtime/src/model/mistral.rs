//! Mistral (Jiang et al. 2023): `transformers.models.mistral`. Llama with a sliding window in every layer.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{DECODER_HEADS, LlamaFields, LlamaShape},
    load::LoadError,
    network::Network,
};
use crate::{backend::Ops, config::Config, weights::Weights};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct MistralConfig {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(default = "default_window")]
    sliding_window: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn default_window() -> Option<usize> {
    Some(4096)
}

impl Config for MistralConfig {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        self.fields.without_effect(head)
    }
}

/// `model_type` `mistral`.
pub(crate) struct Mistral;

impl Family for Mistral {
    type Config = MistralConfig;
    const NAME: &'static str = "Mistral";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &MistralConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let shape = LlamaShape {
            key_value_heads: config.fields.num_key_value_heads.unwrap_or(8),
            windows: vec![config.sliding_window; config.fields.num_hidden_layers],
            ..LlamaShape::plain(&config.fields)
        };
        shape.load(&config.fields, head, labels, w)
    }
}
