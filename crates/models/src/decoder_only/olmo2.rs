//! OLMo 2 (OLMo Team 2024): `transformers.models.olmo2`. Llama with norms after attention and MLP,
//! and over all heads of query and key.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape, NormPosition, QueryKeyNorms},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json` of `model_type` `olmo2`.
#[derive(Debug, Deserialize)]
pub(crate) struct Olmo2 {
    #[serde(flatten)]
    fields: LlamaFields,
    attention_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Olmo2 {
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            // `Olmo2Attention` normalises before it splits the heads.
            norms: QueryKeyNorms::AllHeads,
            norm_position: NormPosition::Post,
            ..LlamaShape::defaults(&self.fields)
        }
    }
}
