//! Phi-3 (Abdin et al. 2024): `transformers.models.phi3`. Llama with query, key and value in one
//! matrix, gate and up in another, rotation of a part of each head, and other frequencies for long
//! texts.

use crate::{
    config::{divides, divides_into_heads},
    text::{
        llama_shape::{LlamaFields, LlamaShape},
        llama_variant::LlamaVariant,
    },
};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::layer::{ProjectionNames, RopeParameters, RopeType};
use testgen_types::Head;

/// The `config.json` of `model_type` `phi3`.
#[derive(Debug, Deserialize)]
pub(crate) struct Phi3 {
    #[serde(flatten)]
    fields: LlamaFields,
    original_max_position_embeddings: f64,
    partial_rotary_factor: Option<f64>,
    sliding_window: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Phi3 {
    /// The field beside the parameters says the trained length; what older files call YaRN or `su`
    /// is LongRoPE.
    fn rope(&self) -> RopeParameters {
        let mut rope = self.fields.rope_parameters();
        rope.original_max_position_embeddings = Some(self.original_max_position_embeddings);
        rope.partial_rotary_factor = rope.partial_rotary_factor.or(self.partial_rotary_factor);
        if rope.rope_type == RopeType::Yarn {
            rope.rope_type = RopeType::Longrope;
        }
        rope
    }
}

impl LlamaVariant for Phi3 {
    fn parts(&self) -> (&LlamaFields, &Map<String, Value>) {
        (&self.fields, &self.rest)
    }

    fn shape(&self) -> LlamaShape {
        LlamaShape {
            projections: ProjectionNames::Joined("qkv_proj"),
            gate_and_up: ProjectionNames::Joined("gate_up_proj"),
            rope: self.rope(),
            // In all layers: `Phi3Model` makes one mask.
            windows: vec![self.sliding_window; self.fields.num_hidden_layers],
            ..LlamaShape::defaults(&self.fields)
        }
    }

    fn validate(&self) -> Result<(), String> {
        // Not `LlamaFields::validate`, which rejects heads that rotate in part.
        let (heads, rope) = (self.fields.num_attention_heads, self.rope());
        divides_into_heads(self.fields.hidden_size, heads)?;
        divides(
            "num_attention_heads",
            heads,
            "num_key_value_heads",
            // Without the field every head has a key, and one divides any number.
            self.fields.num_key_value_heads.unwrap_or(1),
        )?;
        match rope.rope_type {
            RopeType::Default | RopeType::Longrope => rope.validate()?,
            other => {
                return Err(format!(
                    "`rope_type` {other:?} is none of default, longrope"
                ));
            }
        }
        rope.validate_width(self.fields.head_dim())
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = self.fields.inert_fields(head);
        let beside = "the field of the same name beside `rope_parameters` counts";
        fields.push(("rope_parameters.original_max_position_embeddings", beside));
        fields.push(("rope_scaling.original_max_position_embeddings", beside));
        if self.rope().rope_type == RopeType::Default {
            fields.push((
                "original_max_position_embeddings",
                "the frequencies are the same at every length",
            ));
        }
        fields
    }
}
