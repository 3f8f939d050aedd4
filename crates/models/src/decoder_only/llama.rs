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

/// The `config.json` of Llama and of types that differ from it in defaults and in a window:
/// Mistral.
#[derive(Debug, Deserialize)]
pub(crate) struct Llama {
    #[serde(flatten)]
    pub(crate) fields: LlamaFields,
    /// None for types that never have biases.
    attention_bias: Option<bool>,
    mlp_bias: Option<bool>,
    /// None for types whose layers all see every earlier token.
    sliding_window: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Llama {
    /// The decoder alone, for models that read more than text.
    pub(crate) fn load_decoder<B: Ops>(
        &self,
        w: &Weights<B>,
    ) -> Result<LlamaDecoder<B>, WeightsError> {
        self.shape().load_decoder(&self.fields, w)
    }
}

impl LlamaVariant for Llama {
    const NESTED_TYPE: &'static str = "llama";
    /// How the pretraining was split over devices.
    // The forward pass no longer reads it.
    const INERT: &'static [&'static str] = &["pretraining_tp"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        let attention_bias = self.attention_bias == Some(true);
        LlamaShape {
            query_bias: attention_bias,
            output_bias: attention_bias,
            mlp_bias: self.mlp_bias == Some(true),
            // In all layers: `MistralModel` makes one mask.
            windows: vec![self.sliding_window; self.fields.num_hidden_layers],
            ..LlamaShape::defaults(&self.fields)
        }
    }
}
