//! OLMoE (Muennighoff et al. 2024): `transformers.models.olmoe`. Llama with a mixture of experts in every layer, and with
//! norms and bounds on query and key.

use super::{
    class::Head,
    family::Family,
    llama_decoder::{LlamaFields, LlamaShape, QueryKeyNorms},
    load::LoadError,
    network::Network,
};
use crate::{
    backend::Ops,
    config::Config,
    layer::{EXPERT_NAMES, ExpertsShape},
    weights::Weights,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct OlmoeConfig {
    #[serde(flatten)]
    fields: LlamaFields,
    attention_bias: bool,
    clip_qkv: Option<f64>,
    num_experts_per_tok: usize,
    #[serde(alias = "num_local_experts", default = "default_experts")]
    num_experts: usize,
    norm_topk_prob: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn default_experts() -> usize {
    64
}

impl Config for OlmoeConfig {
    /// What is returned beside the logits.
    const INERT: &'static [&'static str] = &["output_router_logits"];

    fn defaults() -> Value {
        json!({
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": 4096,
            "pad_token_id": 1,
            "attention_bias": false,
            "num_experts_per_tok": 8,
            "norm_topk_prob": false,
        })
    }

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        ExpertsShape::validate(self.num_experts_per_tok, self.num_experts)
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        self.fields.without_effect(head)
    }
}

/// `model_type` `olmoe`.
pub(crate) struct Olmoe;

impl Family for Olmoe {
    type Config = OlmoeConfig;
    const NAME: &'static str = "Olmoe";
    const HEADS: &'static [Head] = &[Head::Base, Head::CausalLm];

    fn load<B: Ops>(
        config: &OlmoeConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let experts = ExpertsShape {
            width: config.fields.hidden_size,
            inner: config.fields.intermediate_size,
            count: config.num_experts,
            chosen: config.num_experts_per_tok,
            normalised: config.norm_topk_prob,
            activation: config.fields.hidden_act,
            names: EXPERT_NAMES,
        };
        let shape = LlamaShape {
            query_bias: config.attention_bias,
            output_bias: config.attention_bias,
            norms: QueryKeyNorms::AllHeads,
            clip: config.clip_qkv,
            experts: vec![Some(experts); config.fields.num_hidden_layers],
            ..LlamaShape::plain(&config.fields)
        };
        shape.load(&config.fields, head, labels, w)
    }
}
