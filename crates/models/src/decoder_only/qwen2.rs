//! Qwen2 (Yang et al. 2024): `transformers.models.qwen2`. Llama with biases on query, key and
//! value, and a sliding window in some layers.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape},
    llama_variant::LlamaVariant,
    sliding_windows::SlidingWindowFields,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_types::Head;

/// The `config.json` of `model_type` `qwen2`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen2 {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(flatten)]
    windows: SlidingWindowFields,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Qwen2 {
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            // `Qwen2Attention` has these biases in every model; no field says so.
            query_bias: true,
            windows: self.windows.windows(self.fields.num_hidden_layers),
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        self.windows.validate(self.fields.num_hidden_layers)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.inert_fields(head);
        fields.extend(self.windows.inert_fields(self.fields.num_hidden_layers));
        fields
    }
}
