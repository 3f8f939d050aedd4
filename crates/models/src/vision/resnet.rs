//! ResNet (He et al. 2015): `transformers.models.resnet`.

mod config;

pub(crate) use config::ResNetConfig;

use crate::{
    model_def::{LoadedNetwork, ModelDef},
    network::Network,
};
use burn_tensor::{Tensor, module};
use config::ResnetBlockType;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    layer::{BatchNorm2d, Conv2d, Conv2dShape, Linear},
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// `model_type` `resnet`.
pub(crate) struct ResNet;

impl ModelDef for ResNet {
    type Config = ResNetConfig;

    fn load<B: Ops>(
        config: &ResNetConfig,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B> {
        let width = config.channels();
        let classifier = (head == Head::ImageClassification)
            // Module 0 is the flattening.
            .then(|| Linear::load(&w.module("classifier.1"), width, labels))
            .transpose()?;
        Ok(Box::new(ResNetModel {
            encoder: ResNetEncoder::load(config, &w.strip_prefix("resnet"))?,
            classifier,
        }))
    }
}

struct ResNetModel<B: Ops> {
    encoder: ResNetEncoder<B>,
    classifier: Option<Linear<B>>,
}

impl<B: Ops> Network<B> for ResNetModel<B> {
    /// `logits` [batch, labels]; of the base model `last_hidden_state` [batch, channels, height,
    /// width] and `pooler_output` [batch, channels, 1, 1].
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let last = self.encoder.forward(inputs, context)?;
        let [batch, channels, ..] = last.dims();
        let pooled = module::adaptive_avg_pool2d(last.clone(), [1, 1]);
        match &self.classifier {
            Some(classifier) => context.output(
                "logits",
                classifier.forward(pooled.reshape([batch, channels])),
            ),
            None => {
                context.output("last_hidden_state", last)?;
                context.output("pooler_output", pooled)
            }
        }
    }
}

pub(crate) struct ResNetEncoder<B: Ops> {
    embedder: ConvLayer<B>,
    stages: Vec<Vec<ResNetBlock<B>>>,
    channels: usize,
}

impl<B: Ops> ResNetEncoder<B> {
    pub(crate) fn load(config: &ResNetConfig, w: &Weights<B>) -> Result<Self, WeightsError> {
        let stem = ConvShape {
            channels: [config.num_channels, config.embedding_size],
            // As `ResNetEmbeddings` has it, and the pooling after it; no field says so.
            kernel: 7,
            stride: 2,
        };
        let embedder = ConvLayer::load(
            stem,
            Some(config.hidden_act),
            &w.module("embedder.embedder"),
        )?;
        let mut stages = Vec::new();
        let mut channels = config.embedding_size;
        for (index, (&width, &depth)) in config.hidden_sizes.iter().zip(&config.depths).enumerate()
        {
            // The pooling of the stem has halved the image already.
            let stride = if index > 0 || config.downsample_in_first_stage {
                2
            } else {
                1
            };
            let w = w.module("encoder.stages").module(index).module("layers");
            stages.push(
                (0..depth)
                    .map(|layer| {
                        let (inner, stride) = if layer == 0 {
                            (channels, stride)
                        } else {
                            (width, 1)
                        };
                        ResNetBlock::load(config, [inner, width], stride, &w.module(layer))
                    })
                    .collect::<Result<_, _>>()?,
            );
            channels = width;
        }
        Ok(Self {
            embedder,
            stages,
            channels: config.num_channels,
        })
    }

    /// The output of the last stage for the image, [batch, channels, height, width].
    pub(crate) fn features(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 4>, ForwardError> {
        // Without traces: the hidden states of DETR begin after its projection.
        Ok(self
            .stages
            .iter()
            .flatten()
            .fold(self.stem(inputs)?, |x, block| block.forward(x)))
    }

    fn stem(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 4>, ForwardError> {
        let pixels = inputs.image_of_channels("pixel_values", self.channels)?;
        // Kernel 3, stride 2 and padding 1, as `nn.MaxPool2d` of `ResNetEmbeddings`; no field says
        // so.
        Ok(module::max_pool2d(
            self.embedder.forward(pixels),
            [3, 3],
            [2, 2],
            [1, 1],
            [1, 1],
            false,
        ))
    }

    /// [batch, channels, height, width]; a trace layer is a stage.
    fn forward(
        &self,
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Tensor<B, 4>, ForwardError> {
        let mut x = self.stem(inputs)?;
        context.trace_embed(&x)?;
        for (index, stage) in self.stages.iter().enumerate() {
            x = stage.iter().fold(x, |x, block| block.forward(x));
            context.trace_layer(index, &x)?;
        }
        Ok(x)
    }
}

/// Channels [in, out], side of the square kernel, and stride; padded to keep the size at stride 1.
#[derive(Clone, Copy)]
struct ConvShape {
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
}

impl ConvShape {
    fn new(channels: [usize; 2], kernel: usize, stride: usize) -> Self {
        Self {
            channels,
            kernel,
            stride,
        }
    }
}

/// A convolution without bias, normalised and, if its configuration says so, activated.
struct ConvLayer<B: Ops> {
    convolution: Conv2d<B>,
    normalization: BatchNorm2d<B>,
    activation: Option<Activation>,
}

impl<B: Ops> ConvLayer<B> {
    fn load(
        shape: ConvShape,
        activation: Option<Activation>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let ConvShape {
            channels,
            kernel,
            stride,
        } = shape;
        let conv = Conv2dShape {
            channels,
            kernel: [kernel; 2],
            stride: [stride; 2],
            padding: [kernel / 2; 2],
        };
        Ok(Self {
            convolution: Conv2d::load(&w.module("convolution"), conv, false)?,
            normalization: BatchNorm2d::load(&w.module("normalization"), channels[1])?,
            activation,
        })
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let x = self.normalization.forward(self.convolution.forward(x));
        match self.activation {
            Some(activation) => activate(x, activation),
            None => x,
        }
    }
}

/// Convolutions with a shortcut. As in transformers, `hidden_act` is the activation after the sum;
/// between the convolutions it is always ReLU.
struct ResNetBlock<B: Ops> {
    layers: Vec<ConvLayer<B>>,
    shortcut: Option<ConvLayer<B>>,
    activation: Activation,
}

/// How much narrower the middle of a bottleneck is.
// The default of `ResNetBottleNeckLayer`, which no field changes.
const REDUCTION: usize = 4;

impl<B: Ops> ResNetBlock<B> {
    fn load(
        config: &ResNetConfig,
        channels: [usize; 2],
        stride: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let [inner, out] = channels;
        let shapes = match config.layer_type {
            ResnetBlockType::Basic => vec![
                ConvShape::new([inner, out], 3, stride),
                ConvShape::new([out, out], 3, 1),
            ],
            ResnetBlockType::Bottleneck => {
                let middle = out / REDUCTION;
                // The paper's stride is in the first convolution; later implementations have it in
                // the middle one.
                let [first, second] = if config.downsample_in_bottleneck {
                    [stride, 1]
                } else {
                    [1, stride]
                };
                vec![
                    ConvShape::new([inner, middle], 1, first),
                    ConvShape::new([middle, middle], 3, second),
                    ConvShape::new([middle, out], 1, 1),
                ]
            }
        };
        let last = shapes.len() - 1;
        // Only if the sum would not fit.
        let shortcut = (inner != out || stride != 1)
            .then(|| {
                ConvLayer::load(
                    ConvShape::new(channels, 1, stride),
                    None,
                    &w.module("shortcut"),
                )
            })
            .transpose()?;
        let layers = shapes
            .iter()
            .enumerate()
            .map(|(index, shape)| {
                // The last convolution is activated with the shortcut that is added to it.
                let activation = (index < last).then_some(Activation::Relu);
                ConvLayer::load(*shape, activation, &w.module("layer").module(index))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            layers,
            shortcut,
            activation: config.hidden_act,
        })
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let residual = match &self.shortcut {
            Some(shortcut) => shortcut.forward(x.clone()),
            None => x.clone(),
        };
        let x = self.layers.iter().fold(x, |x, layer| layer.forward(x));
        activate(x + residual, self.activation)
    }
}
