//! ViT (Dosovitskiy et al. 2020) and DeiT (Touvron et al. 2020): `transformers.models.vit`, `transformers.models.deit`.
//!
//! DeiT is ViT with a distillation token behind the class token, and a head that reads both.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::first_token,
    vision_transformer::{IN_MEMORY, PatchEmbedding, SAVED, VisionLayer, VisionShape},
};
use crate::{
    backend::{Activation, Ops, activate},
    config::{Config, Sides, divides},
    layer::{LayerNorm, Linear},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json` of both types.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct VitConfig {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    layer_norm_eps: f64,
    image_size: Sides,
    patch_size: Sides,
    num_channels: usize,
    qkv_bias: bool,
    pooler_output_size: Option<usize>,
    pooler_act: Activation,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for VitConfig {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: Activation::Gelu,
            layer_norm_eps: 1e-12,
            image_size: Sides::Square(224),
            patch_size: Sides::Square(16),
            num_channels: 3,
            qkv_bias: true,
            pooler_output_size: None,
            pooler_act: Activation::Tanh,
            rest: Map::new(),
        }
    }
}

impl VitConfig {
    fn shape(&self) -> VisionShape {
        VisionShape {
            width: self.hidden_size,
            layers: self.num_hidden_layers,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
            qkv_bias: self.qkv_bias,
            channels: self.num_channels,
            image: self.image_size.height_width(),
            patch: self.patch_size.height_width(),
        }
    }
}

impl Config for VitConfig {
    /// The decoder of masked image modelling.
    const INERT: &'static [&'static str] = &["encoder_stride"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        match self.patch_size.height_width().contains(&0) {
            true => Err("`patch_size` is 0".to_owned()),
            false => Ok(()),
        }
    }

    fn without_effect(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        match head {
            Head::Base => Vec::new(),
            _ => ["pooler_act", "pooler_output_size"].map(|field| (field, "only the base model has a pooler")).to_vec(),
        }
    }
}

/// `model_type` `vit`.
pub(crate) struct Vit;

impl Family for Vit {
    type Config = VitConfig;
    const NAME: &'static str = "ViT";
    const HEADS: &'static [Head] = &[Head::Base, Head::ImageClassification];

    fn load<B: Ops>(
        config: &VitConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let base = w.base("vit");
        let encoder = Encoder::load(&config.shape(), &["cls_token"], &base)?;
        Ok(Box::new(VitModel { encoder, head: VitHead::load(config, head, labels, &base, w)? }))
    }
}

/// `model_type` `deit`.
pub(crate) struct Deit;

impl Family for Deit {
    type Config = VitConfig;
    const NAME: &'static str = "DeiT";
    const HEADS: &'static [Head] = &[Head::Base, Head::ImageClassification, Head::ImageClassificationWithTeacher];

    fn load<B: Ops>(
        config: &VitConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let base = w.base("deit");
        let encoder = Encoder::load(&config.shape(), &["cls_token", "distillation_token"], &base)?;
        Ok(Box::new(VitModel { encoder, head: VitHead::load(config, head, labels, &base, w)? }))
    }
}

struct VitModel<B: Ops> {
    encoder: Encoder<B>,
    head: VitHead<B>,
}

enum VitHead<B: Ops> {
    /// `last_hidden_state` and `pooler_output` [batch, pooler_output_size].
    Pooler { dense: Linear<B>, activation: Activation },
    /// `logits` [batch, labels], of the class token.
    Classifier(Linear<B>),
    /// `cls_logits` and `distillation_logits` [batch, labels], of the first two tokens, and `logits`, their mean.
    Teacher { class: Linear<B>, distillation: Linear<B> },
}

impl<B: Ops> VitHead<B> {
    fn load(
        config: &VitConfig,
        head: Head,
        labels: usize,
        base: &Weights<B>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let classifier = |name| Linear::load(&w.module(name), config.hidden_size, labels);
        Ok(match head {
            Head::ImageClassification => Self::Classifier(classifier("classifier")?),
            Head::ImageClassificationWithTeacher => Self::Teacher {
                class: classifier("cls_classifier")?,
                distillation: classifier("distillation_classifier")?,
            },
            _ => {
                let width = config.pooler_output_size.unwrap_or(config.hidden_size);
                let dense = Linear::load(&base.module("pooler.dense"), config.hidden_size, width)?;
                Self::Pooler { dense, activation: config.pooler_act }
            }
        })
    }
}

impl<B: Ops> Network<B> for VitModel<B> {
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, pass)?;
        let first = first_token(last.clone());
        match &self.head {
            VitHead::Classifier(classifier) => pass.output("logits", classifier.forward(first)),
            VitHead::Teacher { class, distillation } => {
                let second = first_token(last.narrow(1, 1, 1));
                let (class, distillation) = (class.forward(first), distillation.forward(second));
                pass.output("cls_logits", class.clone())?;
                pass.output("distillation_logits", distillation.clone())?;
                pass.output("logits", (class + distillation) / 2.0)
            }
            VitHead::Pooler { dense, activation } => {
                pass.output("last_hidden_state", last)?;
                pass.output("pooler_output", activate(dense.forward(first), *activation))
            }
        }
    }
}

struct Encoder<B: Ops> {
    patches: PatchEmbedding<B>,
    /// [1, 1, width] each, in front of the patches.
    special: Vec<Tensor<B, 3>>,
    position_embeddings: Tensor<B, 3>,
    layers: Vec<VisionLayer<B>>,
    layernorm: LayerNorm<B>,
    /// Channels, height and width.
    image: [usize; 3],
}

impl<B: Ops> Encoder<B> {
    fn load(shape: &VisionShape, special: &[&str], w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, embeddings) = (shape.width, w.module("embeddings"));
        let tokens = special.len() + shape.grid().iter().product::<usize>();
        let layers = w.module_named(&["encoder.layer", "layers"]);
        let layer = |index| {
            let w = layers.module(index);
            let names = if w.has("mlp.fc1.weight") { &IN_MEMORY } else { &SAVED };
            VisionLayer::load(shape, names, &w)
        };
        Ok(Self {
            patches: PatchEmbedding::load(shape, &embeddings)?,
            special: special.iter().map(|name| embeddings.tensor(name, [1, 1, width])).collect::<Result<_, _>>()?,
            position_embeddings: embeddings.tensor("position_embeddings", [1, tokens, width])?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
            layernorm: LayerNorm::load(&w.module("layernorm"), width, shape.eps)?,
            image: [shape.channels, shape.image[0], shape.image[1]],
        })
    }

    /// The special tokens and the patches, [batch, tokens, width].
    fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let (patches, _) = self.patches.forward(inputs.image("pixel_values", self.image)?);
        let [batch, _, width] = patches.dims();
        let special = self.special.iter().map(|token| token.clone().expand([batch, 1, width]));
        Ok(Tensor::cat(special.chain([patches]).collect(), 1) + self.position_embeddings.clone())
    }

    /// [batch, tokens, width], after the final norm; the traces are before it, as in transformers.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let mut x = self.embed(inputs)?;
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x);
            pass.trace_layer(index, &x)?;
        }
        Ok(self.layernorm.forward(x))
    }
}
