//! Llama (Touvron et al. 2023): `transformers.models.llama`.

use crate::text::{
    llama_decoder::LlamaDecoder,
    llama_shape::{LlamaFields, LlamaShape},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::Ops,
    weights::{Weights, WeightsError},
};

/// The `config.json` of `model_type` `llama`.
#[derive(Debug, Deserialize)]
pub(crate) struct Llama {
    #[serde(flatten)]
    pub(crate) fields: LlamaFields,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Llama {
    /// The decoder alone, for models that read more than text.
    pub(crate) fn load_decoder<B: Ops>(&self, w: &Weights<B>) -> Result<LlamaDecoder<B>, WeightsError> {
        self.shape().load_decoder(&self.fields, w)
    }
}

impl LlamaVariant for Llama {
    /// How the pretraining was split over devices; the forward pass no longer reads it.
    const INERT: &'static [&'static str] = &["pretraining_tp"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            mlp_bias: self.mlp_bias,
            ..LlamaShape::defaults(&self.fields)
        }
    }
}
