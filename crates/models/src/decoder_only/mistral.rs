//! Mistral (Jiang et al. 2023): `transformers.models.mistral`. Llama with a sliding window in every layer.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json` of `model_type` `mistral`.
#[derive(Debug, Deserialize)]
pub(crate) struct Mistral {
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

impl LlamaVariant for Mistral {
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            key_value_heads: self.fields.num_key_value_heads.unwrap_or(8),
            windows: vec![self.sliding_window; self.fields.num_hidden_layers],
            ..LlamaShape::defaults(&self.fields)
        }
    }
}
