//! Mixtral (Jiang et al. 2024): `transformers.models.mixtral`. Mistral with a mixture of experts in
//! every layer.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::layer::ExpertsShape;

/// The `config.json` of `model_type` `mixtral`.
#[derive(Debug, Deserialize)]
pub(crate) struct Mixtral {
    #[serde(flatten)]
    fields: LlamaFields,
    sliding_window: Option<usize>,
    num_experts_per_tok: usize,
    num_local_experts: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Mixtral {
    /// Outputs besides the logits, and training.
    const INERT: &'static [&'static str] = &["output_router_logits", "router_jitter_noise"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        let experts = self
            .fields
            .experts(self.num_local_experts, self.num_experts_per_tok);
        let experts = ExpertsShape {
            // Gate, up and down, as the original release calls them.
            names: ["w1", "w3", "w2"],
            ..experts
        };
        LlamaShape {
            // In all layers: `MixtralModel` makes one mask.
            windows: vec![self.sliding_window; self.fields.num_hidden_layers],
            experts: vec![Some(experts); self.fields.num_hidden_layers],
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        ExpertsShape::validate(self.num_experts_per_tok, self.num_local_experts)
    }
}
