//! Llama (Touvron et al. 2023): `transformers.models.llama`.

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
pub(crate) struct LlamaConfig {
    #[serde(flatten)]
    pub(crate) fields: LlamaFields,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaConfig {
    /// How its decoder differs from the plain one.
    pub(crate) fn shape(&self) -> LlamaShape {
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            mlp_bias: self.mlp_bias,
            ..LlamaShape::plain(&self.fields)
        }
    }
}

impl Config for LlamaConfig {
    /// How the pretraining was split over devices; the forward pass no longer reads it.
    const INERT: &'static [&'static str] = &["pretraining_tp"];

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

/// `model_type` `llama`.
pub(crate) struct Llama;

impl Family for Llama {
    type Config = LlamaConfig;
    const NAME: &'static str = "Llama";
    const HEADS: &'static [Head] = DECODER_HEADS;

    fn load<B: Ops>(
        config: &LlamaConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        config.shape().load(&config.fields, head, labels, w)
    }
}
