//! Vision Transformer (Dosovitskiy et al. 2020): `transformers.models.vit`.

use super::{
    class::Head,
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::first_token,
};
use crate::{
    backend::{Activation, Ops, activate},
    config::{Config, Sides, divides},
    layer::{AttentionNames, AttentionShape, Conv2d, Conv2dShape, FeedForward, LayerNorm, Linear, SelfAttention},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
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
        let encoder = Encoder::load(config, &base)?;
        let head = match head {
            Head::ImageClassification => {
                VitHead::Classifier(Linear::load(&w.module("classifier"), config.hidden_size, labels)?)
            }
            _ => {
                let width = config.pooler_output_size.unwrap_or(config.hidden_size);
                let dense = Linear::load(&base.module("pooler.dense"), config.hidden_size, width)?;
                VitHead::Pooler { dense, activation: config.pooler_act }
            }
        };
        Ok(Box::new(VitModel { encoder, head }))
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
}

impl<B: Ops> Network<B> for VitModel<B> {
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, pass)?;
        let class = first_token(last.clone());
        match &self.head {
            VitHead::Classifier(classifier) => pass.output("logits", classifier.forward(class)),
            VitHead::Pooler { dense, activation } => {
                pass.output("last_hidden_state", last)?;
                pass.output("pooler_output", activate(dense.forward(class), *activation))
            }
        }
    }
}

struct Encoder<B: Ops> {
    projection: Conv2d<B>,
    cls_token: Tensor<B, 3>,
    position_embeddings: Tensor<B, 3>,
    layers: Vec<Layer<B>>,
    layernorm: LayerNorm<B>,
    /// Channels, height and width.
    image: [usize; 3],
}

impl<B: Ops> Encoder<B> {
    fn load(config: &VitConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, embeddings) = (config.hidden_size, w.module("embeddings"));
        let (image, patch) = (config.image_size.height_width(), config.patch_size.height_width());
        let patches = (image[0] / patch[0]) * (image[1] / patch[1]);
        let shape =
            Conv2dShape { channels: [config.num_channels, width], kernel: patch, stride: patch, padding: [0, 0] };
        let layers = w.module_named(&["encoder.layer", "layers"]);
        let layer = |index| Layer::load(config, &layers.module(index));
        Ok(Self {
            projection: Conv2d::load(&embeddings.module("patch_embeddings.projection"), shape, true)?,
            cls_token: embeddings.tensor("cls_token", [1, 1, width])?,
            position_embeddings: embeddings.tensor("position_embeddings", [1, patches + 1, width])?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            layernorm: LayerNorm::load(&w.module("layernorm"), width, config.layer_norm_eps)?,
            image: [config.num_channels, image[0], image[1]],
        })
    }

    /// The class token and the patches, [batch, 1 + patches, width].
    fn embed(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let pixels: Tensor<B, 4> = inputs.image("pixel_values", self.image)?;
        let patches = self.projection.forward(pixels);
        let [batch, width, rows, columns] = patches.dims();
        let patches = patches.reshape([batch, width, rows * columns]).swap_dims(1, 2);
        let class = self.cls_token.clone().expand([batch, 1, width]);
        Ok(Tensor::cat(vec![class, patches], 1) + self.position_embeddings.clone())
    }

    /// [batch, 1 + patches, width], after the final norm; the traces are before it, as in transformers.
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

/// Names on disk; transformers 5 has others in memory and may save them.
struct Names {
    attention: AttentionNames,
    up: &'static str,
    down: &'static str,
}

const SAVED: Names = Names {
    attention: AttentionNames {
        query: "attention.attention.query",
        key: "attention.attention.key",
        value: "attention.attention.value",
        output: "attention.output.dense",
    },
    up: "intermediate.dense",
    down: "output.dense",
};

const IN_MEMORY: Names = Names {
    attention: AttentionNames {
        query: "attention.q_proj",
        key: "attention.k_proj",
        value: "attention.v_proj",
        output: "attention.o_proj",
    },
    up: "mlp.fc1",
    down: "mlp.fc2",
};

struct Layer<B: Ops> {
    layernorm_before: LayerNorm<B>,
    attention: SelfAttention<B>,
    layernorm_after: LayerNorm<B>,
    mlp: FeedForward<B>,
}

impl<B: Ops> Layer<B> {
    fn load(config: &VitConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (width, inner, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let names = if w.has("mlp.fc1.weight") { &IN_MEMORY } else { &SAVED };
        let shape = AttentionShape { width, heads: config.num_attention_heads, bias: config.qkv_bias };
        Ok(Self {
            layernorm_before: LayerNorm::load(&w.module("layernorm_before"), width, eps)?,
            attention: SelfAttention::load(w, &names.attention, &shape)?,
            layernorm_after: LayerNorm::load(&w.module("layernorm_after"), width, eps)?,
            mlp: FeedForward {
                up: Linear::load(&w.module(names.up), width, inner)?,
                activation: config.hidden_act,
                down: Linear::load(&w.module(names.down), inner, width)?,
            },
        })
    }

    /// [batch, 1 + patches, width], normalised before attention and before the perceptron.
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let x = x.clone() + self.attention.forward(self.layernorm_before.forward(x), None);
        x.clone() + self.mlp.forward(self.layernorm_after.forward(x))
    }
}
