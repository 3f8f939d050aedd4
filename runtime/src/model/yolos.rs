//! YOLOS (Fang et al. 2021): `transformers.models.yolos`.
//!
//! ViT with tokens for objects behind the patches; positions, also between the layers, are resampled to the size of the image.

use super::{
    class::Head,
    detection_head::{DetectionHead, Labels, Perceptron},
    family::Family,
    forward::ForwardError,
    load::LoadError,
    network::{Inputs, Network, Pass},
    text_head::first_token,
    vision_transformer::{PatchEmbedding, SAVED, VisionLayer, VisionShape},
};
use crate::{
    backend::{Activation, Ops, activate},
    config::{Config, divides},
    layer::{LayerNorm, Linear, bicubic},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The `config.json`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct YolosConfig {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    hidden_act: Activation,
    layer_norm_eps: f64,
    image_size: [usize; 2],
    patch_size: usize,
    num_channels: usize,
    qkv_bias: bool,
    num_detection_tokens: usize,
    use_mid_position_embeddings: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Default for YolosConfig {
    fn default() -> Self {
        Self {
            hidden_size: 768,
            num_hidden_layers: 12,
            num_attention_heads: 12,
            intermediate_size: 3072,
            hidden_act: Activation::Gelu,
            layer_norm_eps: 1e-12,
            image_size: [512, 864],
            patch_size: 16,
            num_channels: 3,
            qkv_bias: true,
            num_detection_tokens: 100,
            use_mid_position_embeddings: true,
            rest: Map::new(),
        }
    }
}

impl Config for YolosConfig {
    /// Training.
    const INERT: &'static [&'static str] = &[
        "auxiliary_loss",
        "bbox_cost",
        "bbox_loss_coefficient",
        "class_cost",
        "eos_coefficient",
        "giou_cost",
        "giou_loss_coefficient",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides("hidden_size", self.hidden_size, "num_attention_heads", self.num_attention_heads)?;
        if self.num_detection_tokens == 0 {
            return Err("`num_detection_tokens` is 0".to_owned());
        }
        self.image_size.iter().try_for_each(|side| divides("image_size", *side, "patch_size", self.patch_size))
    }

    fn without_effect(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        match self.num_hidden_layers {
            0 | 1 => vec![("use_mid_position_embeddings", "there is nothing between the layers")],
            _ => Vec::new(),
        }
    }
}

impl YolosConfig {
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
            image: self.image_size,
            patch: [self.patch_size; 2],
        }
    }
}

/// `model_type` `yolos`.
pub(crate) struct Yolos;

impl Family for Yolos {
    type Config = YolosConfig;
    const NAME: &'static str = "Yolos";
    const HEADS: &'static [Head] = &[Head::Base, Head::ObjectDetection];

    fn load<B: Ops>(
        config: &YolosConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Box<dyn Network<B>>, LoadError> {
        let (base, width) = (w.base("vit"), config.hidden_size);
        let encoder = Encoder::load(config, &base)?;
        let head = match head {
            Head::ObjectDetection => YolosHead::Objects(DetectionHead {
                labels: Labels::Perceptron(Perceptron::load(&w.module("class_labels_classifier"), width, labels + 1)?),
                boxes: Perceptron::load(&w.module("bbox_predictor"), width, 4)?,
            }),
            _ => YolosHead::Pooler(Linear::load(&base.module("pooler.dense"), width, width)?),
        };
        Ok(Box::new(YolosModel { encoder, head, queries: config.num_detection_tokens }))
    }
}

struct YolosModel<B: Ops> {
    encoder: Encoder<B>,
    head: YolosHead<B>,
    queries: usize,
}

enum YolosHead<B: Ops> {
    /// `pooler_output` [batch, width], of the class token.
    Pooler(Linear<B>),
    Objects(DetectionHead<B>),
}

impl<B: Ops> Network<B> for YolosModel<B> {
    /// `last_hidden_state` [batch, tokens, width] and what the head leaves.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, pass)?;
        pass.output("last_hidden_state", last.clone())?;
        match &self.head {
            YolosHead::Pooler(dense) => {
                pass.output("pooler_output", activate(dense.forward(first_token(last)), Activation::Tanh))
            }
            YolosHead::Objects(head) => {
                let tokens = last.dims()[1];
                head.forward(last.narrow(1, tokens - self.queries, self.queries), pass)
            }
        }
    }
}

struct Encoder<B: Ops> {
    patches: PatchEmbedding<B>,
    cls_token: Tensor<B, 3>,
    detection_tokens: Tensor<B, 3>,
    position_embeddings: Positions<B>,
    /// Added behind every layer but the last.
    mid_position_embeddings: Vec<Positions<B>>,
    layers: Vec<VisionLayer<B>>,
    layernorm: LayerNorm<B>,
    channels: usize,
}

impl<B: Ops> Encoder<B> {
    fn load(config: &YolosConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (shape, embeddings) = (config.shape(), w.module("embeddings"));
        let (width, grid, queries) = (shape.width, shape.grid(), config.num_detection_tokens);
        let tokens = 1 + grid[0] * grid[1] + queries;
        let layer = |index| VisionLayer::load(&shape, &SAVED, &w.module("encoder.layer").module(index));
        let between = if config.use_mid_position_embeddings { shape.layers.saturating_sub(1) } else { 0 };
        if between == 0 && config.use_mid_position_embeddings {
            w.tied("encoder.mid_position_embeddings");
        }
        let mid = (between > 0)
            .then(|| w.tensor("encoder.mid_position_embeddings", [between, 1, tokens, width]))
            .transpose()?;
        let mid = |index| mid.clone().map(|mid: Tensor<B, 4>| mid.narrow(0, index, 1).reshape([1, tokens, width]));
        let positions = |table| Positions { table, grid, queries };
        Ok(Self {
            patches: PatchEmbedding::load(&shape, &embeddings)?,
            cls_token: embeddings.tensor("cls_token", [1, 1, width])?,
            detection_tokens: embeddings.tensor("detection_tokens", [1, queries, width])?,
            position_embeddings: positions(embeddings.tensor("position_embeddings", [1, tokens, width])?),
            mid_position_embeddings: (0..between).filter_map(mid).map(positions).collect(),
            layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
            layernorm: LayerNorm::load(&w.module("layernorm"), width, shape.eps)?,
            channels: shape.channels,
        })
    }

    /// [batch, tokens, width], after the final norm; the traces are those of the layers themselves.
    fn forward(&self, inputs: &Inputs<'_, B>, pass: &mut Pass<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let pixels = inputs.image_of_channels("pixel_values", self.channels)?;
        let (patches, grid) = self.patches.forward(pixels);
        let [batch, _, width] = patches.dims();
        let class = self.cls_token.clone().expand([batch, 1, width]);
        let queries = self.position_embeddings.queries;
        let objects = self.detection_tokens.clone().expand([batch, queries, width]);
        let mut x = Tensor::cat(vec![class, patches, objects], 1) + self.position_embeddings.at(grid, inputs);
        pass.trace_embed(&x)?;
        for (index, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x);
            pass.trace_layer(index, &x)?;
            if let Some(positions) = self.mid_position_embeddings.get(index) {
                x = x + positions.at(grid, inputs);
            }
        }
        Ok(self.layernorm.forward(x))
    }
}

/// Positions of the class token, of the patches of the trained size, and of the objects.
struct Positions<B: Ops> {
    /// [1, 1 + rows * columns + queries, width].
    table: Tensor<B, 3>,
    grid: [usize; 2],
    queries: usize,
}

impl<B: Ops> Positions<B> {
    /// Those of an image of `grid` patches.
    fn at(&self, grid: [usize; 2], inputs: &Inputs<'_, B>) -> Tensor<B, 3> {
        if grid == self.grid {
            return self.table.clone();
        }
        let ([_, _, width], [rows, columns]) = (self.table.dims(), self.grid);
        let part = |start, length| self.table.clone().narrow(1, start, length);
        let patches = part(1, rows * columns).reshape([1, rows, columns, width]);
        let patches = bicubic(patches, grid, inputs).reshape([1, grid[0] * grid[1], width]);
        Tensor::cat(vec![part(0, 1), patches, part(1 + rows * columns, self.queries)], 1)
    }
}
