//! CLIP (Radford et al. 2021): `transformers.models.clip`.

use super::dual_encoder::{DualEncoder, Encoders};
use crate::{
    capabilities::{Capabilities, Pooling},
    config::{ModelConfig, Nested, NestedConfig},
    model_def::{LoadedNetwork, ModelDef},
    text::text_head::{first_token, pick_tokens},
    vision_blocks::clip_encoder::{
        ClipEncoderFields, ClipImageEncoder, ClipTextEncoder, ImageFields, TextFields,
    },
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{LayerNorm, Linear},
    weights::Weights,
};
use testgen_types::Head;

/// The `config.json`. Older releases filled `..._dict` for the values that count.
#[derive(Debug, Deserialize)]
pub(crate) struct ClipConfig {
    text_config: Nested<ClipTextConfig>,
    vision_config: Nested<ClipVisionConfig>,
    text_config_dict: Option<Nested<ClipTextConfig>>,
    vision_config_dict: Option<Nested<ClipVisionConfig>>,
    projection_dim: usize,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ClipConfig {
    fn text(&self) -> &ClipTextConfig {
        // As a whole: `CLIPConfig` overwrites every field of `text_config`, also by the defaults of
        // the fields that the other leaves out.
        self.text_config_dict.as_ref().unwrap_or(&self.text_config)
    }

    fn vision(&self) -> &ClipVisionConfig {
        self.vision_config_dict
            .as_ref()
            .unwrap_or(&self.vision_config)
    }
}

impl ModelConfig for ClipConfig {
    /// The scale is a tensor; this is what its training began with.
    const INERT: &'static [&'static str] = &["logit_scale_init_value"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        let mut nested: Vec<(&'static str, &dyn NestedConfig)> = vec![
            ("text_config", &self.text_config),
            ("vision_config", &self.vision_config),
        ];
        nested.extend(
            self.text_config_dict
                .iter()
                .map(|config| ("text_config_dict", config as &dyn NestedConfig)),
        );
        nested.extend(
            self.vision_config_dict
                .iter()
                .map(|config| ("vision_config_dict", config as &dyn NestedConfig)),
        );
        nested
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        let overruled = "`..._dict` overrules it";
        let text = self
            .text_config_dict
            .as_ref()
            .map(|_| ("text_config", overruled));
        let vision = self
            .vision_config_dict
            .as_ref()
            .map(|_| ("vision_config", overruled));
        text.into_iter().chain(vision).collect()
    }
}

/// `text_config`.
#[derive(Debug, Deserialize)]
pub(crate) struct ClipTextConfig {
    #[serde(flatten)]
    encoder: ClipEncoderFields,
    #[serde(flatten)]
    text: TextFields,
    eos_token_id: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The id that files from before transformers 4.31 have for the end token, whatever it is.
const LEGACY_END: i64 = 2;

impl ClipTextConfig {
    /// The end token, or `None` if files of older releases do not know it, and the largest id
    /// counts.
    fn end(&self) -> Option<i64> {
        self.eos_token_id
            .as_ref()
            .and_then(Value::as_i64)
            .filter(|id| *id != LEGACY_END)
    }
}

impl ModelConfig for ClipTextConfig {
    const NESTED_TYPE: &'static str = "clip_text_model";
    /// A field of the class that has a separate projection.
    const INERT: &'static [&'static str] = &["projection_dim"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        match &self.eos_token_id {
            Some(Value::Number(_)) => self.encoder.validate(),
            other => Err(format!(
                "`eos_token_id` is {other:?}, and one number is the token that a text is read at"
            )),
        }
    }
}

/// `vision_config`.
#[derive(Debug, Deserialize)]
pub(crate) struct ClipVisionConfig {
    #[serde(flatten)]
    pub(crate) encoder: ClipEncoderFields,
    #[serde(flatten)]
    pub(crate) image: ImageFields,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for ClipVisionConfig {
    const NESTED_TYPE: &'static str = "clip_vision_model";
    /// The first is a field of the class that has a separate projection, the second of the whole
    /// model.
    const INERT: &'static [&'static str] = &["projection_dim", "vocab_size"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.image.validate()?;
        self.encoder.validate()
    }
}

/// `model_type` `clip`.
pub(crate) struct Clip;

impl ModelDef for Clip {
    type Config = ClipConfig;

    fn load<B: Ops>(config: &ClipConfig, _: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let (text, vision, width) = (config.text(), config.vision(), config.projection_dim);
        let encoders = ClipEncoders {
            text: ClipTextEncoder::load(&text.encoder, &text.text, true, &w.module("text_model"))?,
            text_projection: Linear::load_with_bias(
                &w.module("text_projection"),
                text.encoder.hidden_size,
                width,
                false,
            )?,
            end: text.end(),
            vision: ClipImageEncoder::load_clip(
                &vision.encoder,
                &vision.image,
                &w.module("vision_model"),
            )?,
            post_layernorm: vision
                .encoder
                .norm(&w.module("vision_model.post_layernorm"))?,
            visual_projection: Linear::load_with_bias(
                &w.module("visual_projection"),
                vision.encoder.hidden_size,
                width,
                false,
            )?,
        };
        // A parameter, saved as a logarithm; on the host, because it is one number for all logits.
        let scale = w.values("logit_scale", &[])?[0].exp();
        Ok(Box::new(DualEncoder {
            encoders,
            scale,
            bias: 0.0,
        }))
    }
}

struct ClipEncoders<B: Ops> {
    text: ClipTextEncoder<B>,
    text_projection: Linear<B>,
    end: Option<i64>,
    vision: ClipImageEncoder<B>,
    post_layernorm: LayerNorm<B>,
    visual_projection: Linear<B>,
}

impl<B: Ops> Encoders<B> for ClipEncoders<B> {
    fn texts(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError> {
        let last = self.text.forward(inputs, context)?;
        // Integers, or the encoder would have refused them.
        let ids = inputs
            .host("input_ids")
            .and_then(|ids| ids.as_integers())
            .unwrap_or_default();
        let ends: Vec<usize> = ids
            .chunks(last.dims()[1])
            .map(|row| end_of(row, self.end))
            .collect();
        Ok(self.text_projection.forward(pick_tokens(last, &ends)))
    }

    fn images(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError> {
        let last = self
            .vision
            .forward(inputs, self.text.depth(), self.vision.depth(), context)?;
        Ok(self
            .visual_projection
            .forward(self.post_layernorm.forward(first_token(last))))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: Some(self.text.max_positions()),
            causal: true,
            pooling: Pooling::EndToken,
            ..Capabilities::default()
        }
    }
}

/// The position at which a text is read: its first end token, or at the first of its largest ids.
fn end_of(row: &[i64], end: Option<i64>) -> usize {
    let end = end.or_else(|| row.iter().max().copied());
    // A text without either counts as one that ends with its first token.
    row.iter().position(|id| Some(*id) == end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_text_is_read_at_its_first_end() {
        assert_eq!(end_of(&[5, 9, 7, 7], Some(7)), 2);
        assert_eq!(end_of(&[5, 9, 7, 9], None), 1);
        assert_eq!(end_of(&[5, 9], Some(3)), 0);
    }
}
