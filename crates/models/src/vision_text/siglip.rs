//! SigLIP (Zhai et al. 2023): `transformers.models.siglip`.

use super::dual_encoder::{DualEncoder, Encoders};
use crate::{
    capabilities::{Capabilities, Pooling},
    config::{ModelConfig, Nested, NestedConfig},
    model_def::{LoadedNetwork, ModelDef},
    text::text_head::pick_tokens,
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
    layer::{LayerNorm, Linear, Mlp, attend, project_heads},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct SiglipConfig {
    text_config: Nested<SiglipTextConfig>,
    vision_config: Nested<SiglipVisionConfig>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for SiglipConfig {
    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn nested(&self) -> Vec<(&'static str, &dyn NestedConfig)> {
        vec![
            ("text_config", &self.text_config),
            ("vision_config", &self.vision_config),
        ]
    }

    fn validate(&self) -> Result<(), String> {
        let (texts, images) = (
            // Images are not projected: their pooling keeps the width of the encoder.
            self.text_config.projected(),
            self.vision_config.encoder.hidden_size,
        );
        match texts == images {
            true => Ok(()),
            false => Err(format!(
                "texts become vectors of {texts} and images vectors of {images}; compared are equal ones"
            )),
        }
    }
}

/// `text_config`.
#[derive(Debug, Deserialize)]
pub(crate) struct SiglipTextConfig {
    #[serde(flatten)]
    encoder: ClipEncoderFields,
    #[serde(flatten)]
    text: TextFields,
    projection_size: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl SiglipTextConfig {
    fn projected(&self) -> usize {
        // As `SiglipTextConfig` fills in.
        self.projection_size.unwrap_or(self.encoder.hidden_size)
    }
}

impl ModelConfig for SiglipTextConfig {
    const NESTED_TYPE: &'static str = "siglip_text_model";

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.encoder.validate()
    }
}

/// `vision_config`.
#[derive(Debug, Deserialize)]
pub(crate) struct SiglipVisionConfig {
    #[serde(flatten)]
    encoder: ClipEncoderFields,
    #[serde(flatten)]
    image: ImageFields,
    vision_use_head: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl ModelConfig for SiglipVisionConfig {
    const NESTED_TYPE: &'static str = "siglip_vision_model";

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        self.image.validate()?;
        self.encoder.validate()?;
        match self.vision_use_head {
            true => Ok(()),
            false => Err(
                "`vision_use_head` is false, and without the head there is no vector of an image"
                    .to_owned(),
            ),
        }
    }
}

/// `model_type` `siglip`.
pub(crate) struct Siglip;

impl ModelDef for Siglip {
    type Config = SiglipConfig;

    fn load<B: Ops>(config: &SiglipConfig, _: Head, _: usize, w: &Weights<B>) -> LoadedNetwork<B> {
        let (text, vision) = (&config.text_config, &config.vision_config);
        let (text_model, vision_model) = (w.module("text_model"), w.module("vision_model"));
        let encoders = SiglipEncoders {
            text: ClipTextEncoder::load(&text.encoder, &text.text, false, &text_model)?,
            text_head: Linear::load(
                &text_model.module("head"),
                text.encoder.hidden_size,
                text.projected(),
            )?,
            vision: ClipImageEncoder::load_siglip(&vision.encoder, &vision.image, &vision_model)?,
            post_layernorm: vision
                .encoder
                .norm(&vision_model.module("post_layernorm"))?,
            vision_head: AttentionPooling::load(&vision.encoder, &vision_model.module("head"))?,
        };
        Ok(Box::new(DualEncoder {
            encoders,
            // Saved as a logarithm.
            scale: number("logit_scale", w)?.exp(),
            bias: number("logit_bias", w)?,
        }))
    }
}

struct SiglipEncoders<B: Ops> {
    text: ClipTextEncoder<B>,
    text_head: Linear<B>,
    vision: ClipImageEncoder<B>,
    post_layernorm: LayerNorm<B>,
    vision_head: AttentionPooling<B>,
}

impl<B: Ops> Encoders<B> for SiglipEncoders<B> {
    fn texts(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError> {
        let last = self.text.forward(inputs, context)?;
        let [batch, seq, _] = last.dims();
        // A text is read at its last column, which may be padding.
        Ok(self
            .text_head
            .forward(pick_tokens(last, &vec![seq - 1; batch])))
    }

    fn images(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 2>, ForwardError> {
        let last = self
            .vision
            .forward(inputs, self.text.depth(), self.vision.depth(), context)?;
        Ok(self.vision_head.forward(self.post_layernorm.forward(last)))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_positions: Some(self.text.max_positions()),
            pooling: Pooling::LastColumn,
            ..Capabilities::default()
        }
    }
}

/// One learned query over all patches, then an MLP: `SiglipMultiheadAttentionPoolingHead`.
struct AttentionPooling<B: Ops> {
    probe: Tensor<B, 3>,
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    out_proj: Linear<B>,
    layernorm: LayerNorm<B>,
    mlp: Mlp<B>,
    heads: usize,
}

impl<B: Ops> AttentionPooling<B> {
    fn load(fields: &ClipEncoderFields, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, attention) = (fields.hidden_size, w.module("attention"));
        // `nn.MultiheadAttention` saves the three as one matrix.
        let [query, key, value] = Linear::load_stacked(&attention, width)?;
        Ok(Self {
            probe: w.tensor("probe", [1, 1, width])?,
            query,
            key,
            value,
            out_proj: Linear::load(&attention.module("out_proj"), width, width)?,
            layernorm: fields.norm(&w.module("layernorm"))?,
            mlp: fields.mlp(&w.module("mlp"))?,
            heads: fields.num_attention_heads,
        })
    }

    /// [batch, patches, width] to [batch, width].
    fn forward(&self, patches: Tensor<B, 3>) -> Tensor<B, 2> {
        let [batch, _, width] = patches.dims();
        let probe = self.probe.clone().expand([batch, 1, width]);
        let query = project_heads(&self.query, probe, self.heads);
        let [key, value] = [&self.key, &self.value]
            .map(|linear| project_heads(linear, patches.clone(), self.heads));
        let scale = (query.dims()[3] as f64).powf(-0.5);
        let x = self
            .out_proj
            .forward(attend(query, key, value, scale, None));
        // The residual is the result of attention: the probe itself is not added.
        let x = x.clone() + self.mlp.forward(self.layernorm.forward(x));
        x.reshape([batch, width])
    }
}

fn number<B: Ops>(name: &str, w: &Weights<B>) -> Result<f32, WeightsError> {
    // A tensor of one element, while the scale of CLIP has no dimension.
    Ok(w.values(name, &[1])?[0])
}
