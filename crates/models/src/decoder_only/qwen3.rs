//! Qwen3 (Yang et al. 2025): `transformers.models.qwen3`. Qwen2 with norms on query and key, and
//! biases if the configuration says so.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape, QueryKeyNorms},
    llama_variant::LlamaVariant,
    sliding_windows::SlidingWindowFields,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_types::Head;

/// The `config.json` of `model_type` `qwen3`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen3 {
    #[serde(flatten)]
    fields: LlamaFields,
    #[serde(flatten)]
    windows: SlidingWindowFields,
    attention_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Qwen3 {
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            norms: QueryKeyNorms::EachHead,
            windows: self.windows.windows(self.fields.num_hidden_layers),
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        // The width of a head is a separate field, so that the heads need not divide the width of
        // the model.
        self.fields.validate_for(self.fields.head_dim())?;
        self.windows.validate(self.fields.num_hidden_layers)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.inert_fields(head);
        fields.extend(self.windows.inert_fields(self.fields.num_hidden_layers));
        fields
    }
}
