//! ConvNeXt (Liu et al. 2022): `transformers.models.convnext`.

use crate::{
    config::{ImageSize, ModelConfig},
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
    vision_blocks::image_classifier::ImageClassifier,
};
use burn_tensor::Tensor;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{
    backend::{Activation, Ops},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv2d, Conv2dShape, LayerNorm, Mlp, mean},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct ConvNextConfig {
    num_channels: usize,
    patch_size: ImageSize,
    num_stages: usize,
    hidden_sizes: Vec<usize>,
    depths: Vec<usize>,
    hidden_act: Activation,
    layer_norm_eps: f64,
    layer_scale_init_value: f64,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Of every norm but the last.
// The default of `ConvNextLayerNorm`; the last norm has `layer_norm_eps`.
const EPS: f64 = 1e-6;
/// The factor by which the MLPs are wider.
// In the code of `ConvNextLayer`; no field changes it.
const EXPANSION: usize = 4;

impl ModelConfig for ConvNextConfig {
    /// Training, the outputs of a backbone for other models, and `image_size`, because images may
    /// have any.
    const INERT: &'static [&'static str] = &[
        "drop_path_rate",
        "image_size",
        "out_features",
        "out_indices",
        "stage_names",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let (sizes, depths) = (self.hidden_sizes.len(), self.depths.len());
        // A model without stages has no last one, whose width the head needs.
        if sizes == 0 || [sizes, depths] != [self.num_stages; 2] {
            let stages = self.num_stages;
            return Err(format!(
                "`num_stages` is {stages}, `hidden_sizes` has {sizes} entries and `depths` {depths}; they must agree"
            ));
        }
        match self.patch_size.height_width().contains(&0) {
            true => Err("`patch_size` is 0".to_owned()),
            false => Ok(()),
        }
    }

    fn inert_fields(&self, _: Head) -> Vec<(&'static str, &'static str)> {
        vec![(
            "layer_scale_init_value",
            "only whether it is above 0 counts once a model is trained",
        )]
    }
}

/// `model_type` `convnext`.
pub(crate) struct ConvNext;

impl ModelDef for ConvNext {
    type Config = ConvNextConfig;

    fn load<B: Ops>(
        config: &ConvNextConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        // `validate` has refused a model without stages.
        let (base, width) = (
            w.strip_prefix("convnext"),
            config.hidden_sizes[config.num_stages - 1],
        );
        let classifier = ImageClassifier::load(head, width, labels, w)?;
        let layernorm = LayerNorm::load(&base.module("layernorm"), width, config.layer_norm_eps)?;
        Ok(Box::new(ConvNextModel {
            encoder: ConvNextEncoder::load(config, &base)?,
            layernorm,
            classifier,
        }))
    }
}

struct ConvNextModel<B: Ops> {
    encoder: ConvNextEncoder<B>,
    layernorm: LayerNorm<B>,
    classifier: ImageClassifier<B>,
}

impl<B: Ops> Network<B> for ConvNextModel<B> {
    /// `logits` [batch, labels]; of the base model `last_hidden_state` [batch, channels, height,
    /// width] and `pooler_output` [batch, channels].
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, context)?;
        let [batch, channels, height, width] = last.dims();
        let places = mean(last.clone().reshape([batch, channels, height * width]), 2);
        // The norm is of the mean alone: `last_hidden_state` leaves the encoder without one.
        let pooled = self.layernorm.forward(places.reshape([batch, channels]));
        self.classifier.forward(last, pooled, context)
    }
}

struct ConvNextEncoder<B: Ops> {
    stages: Vec<ConvNextStage<B>>,
    channels: usize,
}

/// The downsampling of the image, and layers that keep its size.
struct ConvNextStage<B: Ops> {
    downsampling: Downsampling<B>,
    layers: Vec<ConvNextLayer<B>>,
}

impl<B: Ops> ConvNextEncoder<B> {
    fn load(config: &ConvNextConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let mut stages = Vec::new();
        for (index, (&width, &depth)) in config.hidden_sizes.iter().zip(&config.depths).enumerate()
        {
            let stage = w.module("encoder.stages").module(index);
            let downsampling = match index {
                0 => Downsampling::stem(config, width, &w.module("embeddings"))?,
                _ => Downsampling::load(
                    config.hidden_sizes[index - 1],
                    width,
                    &stage.module("downsampling_layer"),
                )?,
            };
            let layer =
                |layer| ConvNextLayer::load(config, width, &stage.module("layers").module(layer));
            stages.push(ConvNextStage {
                downsampling,
                layers: (0..depth).map(layer).collect::<Result<_, _>>()?,
            });
        }
        Ok(Self {
            stages,
            channels: config.num_channels,
        })
    }

    /// [batch, channels, height, width]; a trace layer is a stage.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let mut x = inputs.image_of_channels("pixel_values", self.channels)?;
        for (index, stage) in self.stages.iter().enumerate() {
            x = stage.downsampling.forward(x);
            if index == 0 {
                context.trace_embed(&x)?;
            }
            x = stage.layers.iter().fold(x, |x, layer| layer.forward(x));
            context.trace_layer(index, &x)?;
        }
        Ok(x)
    }
}

/// A convolution over patches, normalised after it (the first) or before it (the others).
struct Downsampling<B: Ops> {
    norm: LayerNorm<B>,
    convolution: Conv2d<B>,
    norm_first: bool,
}

impl<B: Ops> Downsampling<B> {
    fn stem(config: &ConvNextConfig, width: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        let patch = config.patch_size.height_width();
        let shape = patches(config.num_channels, width, patch);
        Ok(Self {
            // `layer_norm_eps` is for the last norm alone; the others have the default.
            norm: LayerNorm::load(&w.module("layernorm"), width, EPS)?,
            convolution: Conv2d::load(&w.module("patch_embeddings"), shape, true)?,
            norm_first: false,
        })
    }

    fn load(inner: usize, out: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        Ok(Self {
            norm: LayerNorm::load(&w.module(0), inner, EPS)?,
            // 2 in every `ConvNextStage`; no field says so.
            convolution: Conv2d::load(&w.module(1), patches(inner, out, [2, 2]), true)?,
            norm_first: true,
        })
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        match self.norm_first {
            true => self.convolution.forward(self.normalised(x)),
            false => self.normalised(self.convolution.forward(x)),
        }
    }

    /// Over the channels of each position.
    fn normalised(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.norm
            .forward(x.permute([0, 2, 3, 1]))
            .permute([0, 3, 1, 2])
    }
}

/// A convolution over patches that do not overlap.
fn patches(inner: usize, out: usize, patch: [usize; 2]) -> Conv2dShape {
    Conv2dShape {
        channels: [inner, out],
        kernel: patch,
        stride: patch,
        padding: [0, 0],
    }
}

/// A convolution of each channel alone and an MLP over the channels of each position, with a
/// shortcut.
struct ConvNextLayer<B: Ops> {
    dwconv: Conv2d<B>,
    layernorm: LayerNorm<B>,
    mlp: Mlp<B>,
    scale: Option<Tensor<B, 1>>,
}

impl<B: Ops> ConvNextLayer<B> {
    fn load(config: &ConvNextConfig, width: usize, w: &Weights<B>) -> Result<Self, WeightsError> {
        // `ConvNextLayer` makes no parameter at 0.
        let scaled = config.layer_scale_init_value > 0.0;
        Ok(Self {
            // 7 in every `ConvNextLayer`; no field says so.
            dwconv: Conv2d::load_depthwise(&w.module("dwconv"), width, 7)?,
            layernorm: LayerNorm::load(&w.module("layernorm"), width, EPS)?,
            mlp: Mlp::load(
                w,
                ["pwconv1", "pwconv2"],
                [width, EXPANSION * width],
                config.hidden_act,
                true,
            )?,
            scale: scaled
                .then(|| w.tensor("layer_scale_parameter", [width]))
                .transpose()?,
        })
    }

    /// [batch, channels, height, width].
    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let [batch, channels, height, width] = x.dims();
        let places = self.dwconv.forward(x.clone()).permute([0, 2, 3, 1]);
        let places = self
            .layernorm
            .forward(places.reshape([batch, height * width, channels]));
        let mut y = self.mlp.forward(places);
        if let Some(scale) = &self.scale {
            y = y * scale.clone().unsqueeze();
        }
        x + y
            .reshape([batch, height, width, channels])
            .permute([0, 3, 1, 2])
    }
}
