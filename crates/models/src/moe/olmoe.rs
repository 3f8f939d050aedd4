//! OLMoE (Muennighoff et al. 2024): `transformers.models.olmoe`. Llama with a mixture of experts in
//! every layer, and with norms and bounds on query and key.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape, QueryKeyNorms},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::layer::ExpertsShape;

/// The `config.json` of `model_type` `olmoe`.
#[derive(Debug, Deserialize)]
pub(crate) struct Olmoe {
    #[serde(flatten)]
    fields: LlamaFields,
    attention_bias: bool,
    clip_qkv: Option<f64>,
    num_experts_per_tok: usize,
    num_experts: usize,
    norm_topk_prob: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl LlamaVariant for Olmoe {
    /// Outputs besides the logits.
    const INERT: &'static [&'static str] = &["output_router_logits"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        let experts = self
            .fields
            .experts(self.num_experts, self.num_experts_per_tok);
        let experts = ExpertsShape {
            normalised: self.norm_topk_prob,
            ..experts
        };
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            // `OlmoeAttention` normalises before it splits the heads.
            norms: QueryKeyNorms::AllHeads,
            clip: self.clip_qkv,
            experts: vec![Some(experts); self.fields.num_hidden_layers],
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        ExpertsShape::validate(self.num_experts_per_tok, self.num_experts)
    }
}
