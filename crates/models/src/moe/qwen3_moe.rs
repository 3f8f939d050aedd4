//! Qwen3-MoE (Yang et al. 2025): `transformers.models.qwen3_moe`. Qwen3 with mixtures of experts in
//! some layers.

use crate::text::{
    llama_shape::{LlamaFields, LlamaShape, QueryKeyNorms},
    llama_variant::LlamaVariant,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::layer::ExpertsShape;
use testgen_types::Head;

/// The `config.json` of `model_type` `qwen3_moe`.
#[derive(Debug, Deserialize)]
pub(crate) struct Qwen3Moe {
    #[serde(flatten)]
    fields: LlamaFields,
    attention_bias: bool,
    use_sliding_window: bool,
    sliding_window: Option<usize>,
    decoder_sparse_step: usize,
    mlp_only_layers: Option<Vec<usize>>,
    moe_intermediate_size: usize,
    num_experts_per_tok: usize,
    num_local_experts: usize,
    norm_topk_prob: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Qwen3Moe {
    /// Whether the MLP of each layer is a mixture.
    fn sparse(&self) -> Vec<bool> {
        let single = self.mlp_only_layers.as_deref().unwrap_or_default();
        (0..self.fields.num_hidden_layers)
            .map(|layer| {
                // Counted from one, as in `Qwen3MoeDecoderLayer`.
                let is_step = (layer + 1).is_multiple_of(self.decoder_sparse_step);
                is_step && !single.contains(&layer)
            })
            .collect()
    }
}

impl LlamaVariant for Qwen3Moe {
    /// Outputs besides the logits; the first layer with a window in Qwen2, which has no meaning
    /// here.
    const INERT: &'static [&'static str] = &["max_window_layers", "output_router_logits"];

    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        let experts = ExpertsShape {
            // `intermediate_size` is for the layers with a single MLP.
            inner: self.moe_intermediate_size,
            normalised: self.norm_topk_prob,
            ..self
                .fields
                .experts(self.num_local_experts, self.num_experts_per_tok)
        };
        // In all layers: unlike Qwen2, this type has no first layer with a window.
        let window = self.sliding_window.filter(|_| self.use_sliding_window);
        LlamaShape {
            query_bias: self.attention_bias,
            output_bias: self.attention_bias,
            norms: QueryKeyNorms::EachHead,
            windows: vec![window; self.fields.num_hidden_layers],
            experts: self
                .sparse()
                .into_iter()
                .map(|sparse| sparse.then_some(experts))
                .collect(),
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        self.fields.validate()?;
        if self.decoder_sparse_step == 0 {
            return Err("`decoder_sparse_step` is 0".to_owned());
        }
        ExpertsShape::validate(self.num_experts_per_tok, self.num_local_experts)
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.inert_fields(head);
        if !self.use_sliding_window {
            fields.push(("sliding_window", "`use_sliding_window` is off"));
        }
        if self.sliding_window.is_none() {
            fields.push(("use_sliding_window", "`sliding_window` is null"));
        }
        if self.sparse().iter().all(|sparse| *sparse) {
            fields.push(("intermediate_size", "every layer is a mixture"));
        }
        fields
    }
}
