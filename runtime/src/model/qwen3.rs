//! Qwen3 (Yang et al. 2025): `transformers.models.qwen3`. Qwen2 with norms on query and key, and biases where the
//! configuration says so.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{DECODER_HEADS, LlamaFields, LlamaShape, QueryKeyNorms},
    load::LoadError,
    network::Network,
    sliding_windows::SlidingWindowFields,
};
use crate::{backend::Ops, config::Config, weights::Weights};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen3Config {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(flatten)]
    windows: SlidingWindowFields,
    #[serde(default)]
    attention_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Qwen3Config {
    fn head_dim(&self) -> usize {
        self.fields.head_dim.unwrap_or(128)
    }
}

impl Config for Qwen3Config {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate_for(self.head_dim())?;
        self.windows.validate(self.fields.num_hidden_layers)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.without_effect(head);
        fields.extend(self.windows.without_effect(self.fields.num_hidden_layers));
        fields
    }
}

/// `model_type` `qwen3`.
pub(crate) struct Qwen3;

impl Family for Qwen3 {
    type Config = Qwen3Config;
    const NAME: &'static str = "Qwen3";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &Qwen3Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let shape = LlamaShape {
            head_dim: config.head_dim(),
            key_value_heads: config.fields.num_key_value_heads.unwrap_or(32),
            query_bias: config.attention_bias,
            output_bias: config.attention_bias,
            norms: QueryKeyNorms::EachHead,
            windows: config.windows.windows(config.fields.num_hidden_layers),
            ..LlamaShape::plain(&config.fields)
        };
        shape.load(&config.fields, head, labels, w)
    }
}
