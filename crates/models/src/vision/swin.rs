//! Swin Transformer (Liu et al. 2021): `transformers.models.swin`.
//!
//! Owns stages and the downsampling between them; the layers are in
//! [`swin_layer`](super::swin_layer).

use super::swin_layer::{FeatureMap, SwinLayer, SwinLayerShape, padded};
use crate::{
    config::{ImageSize, ModelConfig, divides},
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    vision_blocks::image_classifier::ImageClassifier,
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::Value;
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv2d, Conv2dShape, LayerNorm, Linear, mean},
    stack::LayerStack,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SwinConfig {
    patch_size: ImageSize,
    image_size: ImageSize,
    num_channels: usize,
    embed_dim: usize,
    depths: Vec<usize>,
    num_heads: Vec<usize>,
    window_size: usize,
    mlp_ratio: f64,
    qkv_bias: bool,
    hidden_act: Activation,
    use_absolute_embeddings: bool,
    layer_norm_eps: f64,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// Of the norms after the patches and between the stages.
// PyTorch's default: only the other norms have `layer_norm_eps`.
const EPS: f64 = 1e-5;

impl ModelConfig for SwinConfig {
    /// Training, masked image modelling, redundant fields, and the outputs of a backbone for other
    /// models.
    const INERT: &'static [&'static str] = &[
        "drop_path_rate",
        "encoder_stride",
        "hidden_size",
        "num_layers",
        "out_features",
        "out_indices",
        "path_norm",
        "stage_names",
    ];

    fn rest(&self) -> &serde_json::Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let (depths, heads) = (self.depths.len(), self.num_heads.len());
        if depths == 0 || depths != heads {
            return Err(format!(
                "`depths` has {depths} entries and `num_heads` {heads}; both have one for each stage"
            ));
        }
        if self.patch_size.height_width().contains(&0) || self.window_size == 0 {
            return Err("`patch_size` or `window_size` is 0".to_owned());
        }
        let stages = self.num_heads.iter().enumerate();
        stages.into_iter().try_for_each(|(stage, heads)| {
            divides("embed_dim", self.width(stage), "num_heads", *heads)
        })
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        match self.use_absolute_embeddings {
            true => Vec::new(),
            false => vec![(
                "image_size",
                "images may have any without absolute positions",
            )],
        }
    }
}

impl SwinConfig {
    /// The channels of a stage.
    fn width(&self, stage: usize) -> usize {
        // Each downsampling doubles the channels.
        self.embed_dim << stage
    }

    fn layer(&self, stage: usize, index: usize) -> SwinLayerShape {
        let width = self.width(stage);
        SwinLayerShape {
            width,
            heads: self.num_heads[stage],
            // Cut off like Python's `int`.
            inner: (self.mlp_ratio * width as f64) as usize,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
            qkv_bias: self.qkv_bias,
            window: self.window_size,
            shift: if index.is_multiple_of(2) {
                0
            } else {
                self.window_size / 2
            },
        }
    }
}

/// `model_type` `swin`.
pub(crate) struct Swin;

impl ModelDef for Swin {
    type Config = SwinConfig;

    fn load<B: Ops>(
        config: &SwinConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let (base, width) = (
            w.strip_prefix("swin"),
            config.width(config.depths.len() - 1),
        );
        let classifier = ImageClassifier::load(head, width, labels, w)?;
        let layernorm = LayerNorm::load(&base.module("layernorm"), width, config.layer_norm_eps)?;
        let embeddings = SwinEmbeddings::load(config, &base.module("embeddings"))?;
        let stage =
            |index| SwinStage::load(config, index, &base.module("encoder.layers").module(index));
        let stages = (0..config.depths.len())
            .map(stage)
            .collect::<Result<_, _>>()?;
        Ok(Box::new(SwinModel {
            embeddings,
            stages,
            layernorm,
            classifier,
        }))
    }
}

struct SwinModel<B: Ops> {
    embeddings: SwinEmbeddings<B>,
    stages: Vec<SwinStage<B>>,
    layernorm: LayerNorm<B>,
    classifier: ImageClassifier<B>,
}

impl<B: Ops> Network<B> for SwinModel<B> {
    /// `logits` [batch, labels]; of the base model `last_hidden_state` [batch, patches, width] and
    /// `pooler_output`, their mean.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let mut x = self.embeddings.forward(inputs)?;
        context.trace_embed(&x.places)?;
        for (index, stage) in self.stages.iter().enumerate() {
            x = stage.forward(x, inputs, context)?;
            // A trace layer is a stage with the downsampling after it.
            context.trace_layer(index, &x.places)?;
        }
        let last = self.layernorm.forward(x.places);
        let [batch, _, width] = last.dims();
        let pooled = mean(last.clone(), 1).reshape([batch, width]);
        self.classifier.forward(last, pooled, context)
    }
}

struct SwinEmbeddings<B: Ops> {
    projection: Conv2d<B>,
    norm: LayerNorm<B>,
    position_embeddings: Option<Tensor<B, 3>>,
    channels: usize,
    patch: [usize; 2],
}

impl<B: Ops> SwinEmbeddings<B> {
    fn load(config: &SwinConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let (patch, image, width) = (
            config.patch_size.height_width(),
            config.image_size.height_width(),
            config.embed_dim,
        );
        let channels = [config.num_channels, width];
        let shape = Conv2dShape {
            channels,
            kernel: patch,
            stride: patch,
            padding: [0, 0],
        };
        // Rounded down, as `SwinPatchEmbeddings` counts them, although images are padded to whole
        // patches.
        let patches = (image[0] / patch[0]) * (image[1] / patch[1]);
        // Replaces hidden patches in pretraining; no class here hides any.
        w.mark_unused("mask_token");
        Ok(Self {
            projection: Conv2d::load(&w.module("patch_embeddings.projection"), shape, true)?,
            // PyTorch's default, as in `SwinPatchMerging`: `layer_norm_eps` is for the other norms.
            norm: LayerNorm::load(&w.module("norm"), width, EPS)?,
            position_embeddings: config
                .use_absolute_embeddings
                .then(|| w.tensor("position_embeddings", [1, patches, width]))
                .transpose()?,
            channels: config.num_channels,
            patch,
        })
    }

    /// Images whose size is not a multiple of a patch are padded with zeros.
    fn forward(&self, inputs: &Inputs<'_, B>) -> Result<FeatureMap<B>, ForwardError> {
        let pixels = inputs.image_of_channels("pixel_values", self.channels)?;
        let pixels = padded(padded(pixels, 2, self.patch[0]), 3, self.patch[1]);
        let patches = self.projection.forward(pixels);
        let [batch, width, rows, columns] = patches.dims();
        let places = self.norm.forward(
            patches
                .reshape([batch, width, rows * columns])
                .swap_dims(1, 2),
        );
        let Some(positions) = &self.position_embeddings else {
            return Ok(FeatureMap {
                places,
                rows,
                columns,
            });
        };
        if positions.dims()[1] != rows * columns {
            let found = format!("an image of {rows} x {columns} patches");
            let expected = format!(
                "one of {} patches, as there are positions",
                positions.dims()[1]
            );
            return Err(ForwardError::WrongInput {
                name: "pixel_values".to_owned(),
                found,
                expected,
            });
        }
        Ok(FeatureMap {
            places: places + positions.clone(),
            rows,
            columns,
        })
    }
}

struct SwinStage<B: Ops> {
    blocks: LayerStack<B, SwinLayer<B>>,
    downsample: Option<Merging<B>>,
}

impl<B: Ops> SwinStage<B> {
    fn load(config: &SwinConfig, stage: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let last = stage + 1 == config.depths.len();
        Ok(Self {
            blocks: LayerStack::load(&w.module("blocks"), config.depths[stage], {
                let config = config.clone();
                move |index, w| SwinLayer::load(config.layer(stage, index), w)
            })?,
            downsample: (!last)
                .then(|| Merging::load(config.width(stage), &w.module("downsample")))
                .transpose()?,
        })
    }

    fn forward(
        &self,
        x: FeatureMap<B>,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<FeatureMap<B>, ForwardError> {
        // A copy, because a split stack changes the device on which its layers put tensors.
        let mut inputs = inputs.clone();
        let x = self.blocks.fold(context, x, &mut inputs, |mut x, at, _| {
            x.places = at.layer.forward(&x, at.shared)?;
            Ok(x)
        })?;
        Ok(match &self.downsample {
            Some(merging) => merging.forward(x),
            None => x,
        })
    }
}

/// Four neighbours become one position of twice the width.
struct Merging<B: Ops> {
    norm: LayerNorm<B>,
    reduction: Linear<B>,
}

impl<B: Ops> Merging<B> {
    fn load(width: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            norm: LayerNorm::load(&w.module("norm"), 4 * width, EPS)?,
            reduction: Linear::load_with_bias(&w.module("reduction"), 4 * width, 2 * width, false)?,
        })
    }

    /// The neighbours go down first: (0, 0), (1, 0), (0, 1), (1, 1).
    fn forward(&self, x: FeatureMap<B>) -> FeatureMap<B> {
        // An odd side gets a row of zeros, as in `SwinPatchMerging`.
        let x = padded(padded(x.image(), 1, 2), 2, 2);
        let [batch, height, length, width] = x.dims();
        let (rows, columns) = (height / 2, length / 2);
        let neighbours = x
            .reshape([batch, rows, 2, columns, 2, width])
            .permute([0, 1, 3, 4, 2, 5]);
        let neighbours = neighbours.reshape([batch, rows * columns, 4 * width]);
        FeatureMap {
            places: self.reduction.forward(self.norm.forward(neighbours)),
            rows,
            columns,
        }
    }
}
