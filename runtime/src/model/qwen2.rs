//! Qwen2 (Yang et al. 2024): `transformers.models.qwen2`. Llama with biases on query, key and value, and a sliding
//! window in some layers.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{DECODER_HEADS, LlamaFields, LlamaShape},
    load::LoadError,
    network::Network,
    sliding_windows::SlidingWindowFields,
};
use crate::{backend::Ops, config::Config, weights::Weights};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen2Config {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(flatten)]
    windows: SlidingWindowFields,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Config for Qwen2Config {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        self.windows.validate(self.fields.num_hidden_layers)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.without_effect(head);
        fields.extend(self.windows.without_effect(self.fields.num_hidden_layers));
        fields
    }
}

/// `model_type` `qwen2`.
pub(crate) struct Qwen2;

impl Family for Qwen2 {
    type Config = Qwen2Config;
    const NAME: &'static str = "Qwen2";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &Qwen2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let shape = LlamaShape {
            key_value_heads: config.fields.num_key_value_heads.unwrap_or(32),
            query_bias: true,
            windows: config.windows.windows(config.fields.num_hidden_layers),
            ..LlamaShape::plain(&config.fields)
        };
        shape.load(&config.fields, head, labels, w)
    }
}
