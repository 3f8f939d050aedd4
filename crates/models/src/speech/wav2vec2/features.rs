//! From samples to features: convolutions with their norms, and which features belong to the
//! recording.

use super::config::{FeatureNorm, Wav2Vec2Config};
use burn_tensor::{DType, Tensor};
use testgen_nn::{
    array::Array,
    backend::{Activation, Ops, activate},
    forward::ForwardError,
    inputs::Inputs,
    layer::{Conv1d, Conv1dShape, LayerNorm, between_zeros},
    weights::{Weights, WeightsError},
};

/// The samples of the recordings, [batch, samples].
const SAMPLES: &str = "input_values";
/// PyTorch's default, which these norms keep.
const EPS: f64 = 1e-5;

/// The convolutions over samples.
pub(super) struct FeatureEncoder<B: Ops> {
    layers: Vec<FeatureLayer<B>>,
    shapes: Vec<Conv1dShape>,
}

struct FeatureLayer<B: Ops> {
    conv: Conv1d<B>,
    norm: FeatureNormLayer<B>,
    activation: Activation,
}

enum FeatureNormLayer<B: Ops> {
    None,
    /// Of each channel over time, `nn.GroupNorm` with a group for every channel.
    Time {
        weight: Tensor<B, 1>,
        bias: Tensor<B, 1>,
    },
    Channels(LayerNorm<B>),
}

impl<B: Ops> FeatureEncoder<B> {
    pub(super) fn load(config: &Wav2Vec2Config, w: &Weights<B>) -> Result<Self, WeightsError> {
        let shapes = config.convolutions();
        let layer =
            |(index, shape): (usize, &Conv1dShape)| -> Result<FeatureLayer<B>, WeightsError> {
                let w = w.module("conv_layers").module(index);
                let (width, norm) = (shape.channels[1], w.module("layer_norm"));
                let norm = match (config.feat_extract_norm, index) {
                    (FeatureNorm::Layer, _) => {
                        FeatureNormLayer::Channels(LayerNorm::load(&norm, width, EPS)?)
                    }
                    (FeatureNorm::Group, 0) => FeatureNormLayer::Time {
                        weight: norm.tensor("weight", [width])?,
                        bias: norm.tensor("bias", [width])?,
                    },
                    (FeatureNorm::Group, _) => FeatureNormLayer::None,
                };
                let conv = Conv1d::load(&w.module("conv"), *shape, config.conv_bias)?;
                Ok(FeatureLayer {
                    conv,
                    norm,
                    activation: config.feat_extract_activation,
                })
            };
        Ok(Self {
            layers: shapes
                .iter()
                .enumerate()
                .map(layer)
                .collect::<Result<_, _>>()?,
            shapes,
        })
    }

    /// `input_values` [batch, samples] to [batch, frames, width].
    pub(super) fn forward(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let values = inputs.floats::<2>(SAMPLES)?;
        let [batch, samples] = values.dims();
        if self.frames(samples) == 0 {
            return Err(ForwardError::WrongInput {
                name: SAMPLES.to_owned(),
                found: format!("{samples} samples long"),
                expected: "enough samples for one frame".to_owned(),
            });
        }
        let mut x = values.reshape([batch, samples, 1]);
        for layer in &self.layers {
            x = activate(layer.norm.forward(layer.conv.forward(x)), layer.activation);
        }
        Ok(x)
    }

    /// The number of features of so many samples.
    fn frames(&self, samples: usize) -> usize {
        self.shapes
            .iter()
            .fold(samples, |length, shape| shape.length(length))
    }

    /// How many of the `frames` of each row belong to the recording, or `None` if there is no
    /// `attention_mask`.
    pub(super) fn real(
        &self,
        inputs: &Inputs<'_, B>,
        frames: usize,
    ) -> Result<Option<Vec<usize>>, ForwardError> {
        let Some(mask) = inputs.host("attention_mask") else {
            return Ok(None);
        };
        let samples = inputs.host(SAMPLES).map(Array::shape);
        let (Some(values), true) = (mask.as_integers(), Some(mask.shape()) == samples) else {
            return Err(ForwardError::WrongInput {
                name: "attention_mask".to_owned(),
                found: format!("a tensor of shape {:?}", mask.shape()),
                expected: format!("integers of the shape of `{SAMPLES}`"),
            });
        };
        let counts = values.chunks(mask.shape()[1]).map(|row| {
            let samples = row.iter().filter(|bit| **bit != 0).count();
            // At least one: a mean over no frame would divide by zero.
            self.frames(samples).clamp(1, frames)
        });
        Ok(Some(counts.collect()))
    }
}

/// [batch, frames, width] to [batch, 1, width]. Summed in portions first.
fn mean_over_time<B: Ops>(x: Tensor<B, 3>) -> Tensor<B, 3> {
    let [batch, frames, width] = x.dims();
    // One sum over thousands of frames would lose half of what f32 holds beyond a norm's tolerance.
    let portion = (frames as f64).sqrt().ceil() as usize;
    let portions = frames.div_ceil(portion);
    let missing = portion * portions - frames;
    let x = between_zeros(x, 1, 0, missing);
    let sums = x
        .reshape([batch, portions, portion, width])
        .sum_dim(2)
        .sum_dim(1);
    sums.reshape([batch, 1, width]) / frames as f64
}

impl<B: Ops> FeatureNormLayer<B> {
    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        match self {
            Self::None => x,
            Self::Channels(norm) => norm.forward(x),
            Self::Time { weight, bias } => {
                let (dtype, width) = (x.dtype(), x.dims()[2]);
                let x = x.cast(DType::F32);
                let centred = x.clone() - mean_over_time(x);
                let variance = mean_over_time(centred.clone() * centred.clone());
                let row =
                    |values: &Tensor<B, 1>| values.clone().cast(DType::F32).reshape([1, 1, width]);
                (centred / (variance + EPS).sqrt() * row(weight) + row(bias)).cast(dtype)
            }
        }
    }
}
