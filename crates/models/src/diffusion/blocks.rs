//! Residual blocks of convolutions, and the steps from one resolution to the next:
//! `diffusers.models.resnet`.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    layer::{Conv2d, Conv2dShape, GroupNorm, Linear, between_zeros},
    weights::{Weights, WeightsError},
};

/// The properties that the blocks of a model share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResnetShape {
    pub(crate) groups: usize,
    pub(crate) eps: f64,
    pub(crate) activation: Activation,
    /// The width of the time's embedding, or `None` in models without time.
    pub(crate) time: Option<usize>,
    /// The divisor of the sum of block and shortcut.
    pub(crate) scale: f64,
}

/// `ResnetBlock2D`.
pub(crate) struct ResnetBlock<B: Ops> {
    norm1: GroupNorm<B>,
    conv1: Conv2d<B>,
    time_emb_proj: Option<Linear<B>>,
    norm2: GroupNorm<B>,
    conv2: Conv2d<B>,
    conv_shortcut: Option<Conv2d<B>>,
    activation: Activation,
    scale: f64,
}

impl<B: Ops> ResnetBlock<B> {
    pub(crate) fn load(
        shape: &ResnetShape,
        inner: usize,
        out: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let norm =
            |name, channels| GroupNorm::load(&w.module(name), shape.groups, channels, shape.eps);
        Ok(Self {
            norm1: norm("norm1", inner)?,
            conv1: convolution(&w.module("conv1"), [inner, out], 3)?,
            time_emb_proj: shape
                .time
                .map(|width| Linear::load(&w.module("time_emb_proj"), width, out))
                .transpose()?,
            norm2: norm("norm2", out)?,
            conv2: convolution(&w.module("conv2"), [out, out], 3)?,
            conv_shortcut: (inner != out)
                .then(|| convolution(&w.module("conv_shortcut"), [inner, out], 1))
                .transpose()?,
            activation: shape.activation,
            scale: shape.scale,
        })
    }

    /// [batch, in, height, width] and, where there is time, its embedding [batch, time].
    pub(crate) fn forward(&self, x: Tensor<B, 4>, time: Option<&Tensor<B, 2>>) -> Tensor<B, 4> {
        let mut hidden = self
            .conv1
            .forward(activate(self.norm1.forward(x.clone()), self.activation));
        if let Some((projection, time)) = self.time_emb_proj.as_ref().zip(time) {
            // Activated here, because `TimestepEmbedding` ends with a linear map.
            let time = projection.forward(activate(time.clone(), self.activation));
            let [batch, channels] = time.dims();
            hidden = hidden + time.reshape([batch, channels, 1, 1]);
        }
        let hidden = self
            .conv2
            .forward(activate(self.norm2.forward(hidden), self.activation));
        let shortcut = match &self.conv_shortcut {
            Some(shortcut) => shortcut.forward(x),
            None => x,
        };
        (shortcut + hidden) / self.scale
    }
}

/// A convolution with bias that keeps the size.
pub(crate) fn convolution<B: Ops>(
    w: &Weights<B>,
    channels: [usize; 2],
    kernel: usize,
) -> Result<Conv2d<B>, WeightsError> {
    // Rounded down, as `UNet2DConditionModel` computes it for `conv_in_kernel`.
    strided(w, channels, kernel, 1, (kernel - 1) / 2)
}

fn strided<B: Ops>(
    w: &Weights<B>,
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    padding: usize,
) -> Result<Conv2d<B>, WeightsError> {
    let shape = Conv2dShape {
        channels,
        kernel: [kernel; 2],
        stride: [stride; 2],
        padding: [padding; 2],
    };
    Conv2d::load(w, shape, true)
}

/// Half the resolution: `Downsample2D`.
pub(crate) struct Downsample<B: Ops> {
    conv: Conv2d<B>,
    /// Without padding around, one row and one column of zeros are added after the image.
    after: bool,
}

/// `downsamplers.0` below `w`.
pub(crate) fn halved<B: Ops>(
    w: &Weights<B>,
    channels: usize,
    padding: usize,
) -> Result<Downsample<B>, WeightsError> {
    let conv = strided(
        &w.module("downsamplers.0.conv"),
        [channels, channels],
        3,
        2,
        padding,
    )?;
    Ok(Downsample {
        conv,
        // As `Downsample2D`, which pads the right and the bottom itself then.
        after: padding == 0,
    })
}

impl<B: Ops> Downsample<B> {
    pub(crate) fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        if !self.after {
            return self.conv.forward(x);
        }
        let below = between_zeros(x, 2, 0, 1);
        self.conv.forward(between_zeros(below, 3, 0, 1))
    }
}

/// Twice the resolution: `Upsample2D`.
pub(crate) struct Upsample<B: Ops>(Conv2d<B>);

/// `upsamplers.0` below `w`.
pub(crate) fn doubled<B: Ops>(
    w: &Weights<B>,
    channels: usize,
) -> Result<Upsample<B>, WeightsError> {
    convolution(&w.module("upsamplers.0.conv"), [channels, channels], 3).map(Upsample)
}

impl<B: Ops> Upsample<B> {
    /// Every pixel four times. If the image that was halved had an odd side, the nearest pixels for
    /// `size`.
    pub(crate) fn forward(&self, x: Tensor<B, 4>, size: Option<[usize; 2]>) -> Tensor<B, 4> {
        let [_, _, height, width] = x.dims();
        let [rows, columns] = size.unwrap_or([2 * height, 2 * width]);
        self.0.forward(nearest(nearest(x, 2, rows), 3, columns))
    }
}

/// `x` with `length` positions along `dim`, each a copy of the nearest one.
fn nearest<B: Ops>(x: Tensor<B, 4>, dim: usize, length: usize) -> Tensor<B, 4> {
    let from = x.dims()[dim];
    // In f32, as PyTorch's `nearest`, by which uneven sizes round.
    let scale = from as f32 / length as f32;
    // As PyTorch, at most the last pixel: f32 may round up to the length.
    let places = (0..length).map(|place| (((place as f32) * scale) as usize).min(from - 1));
    Tensor::cat(
        places
            .map(|place| x.clone().narrow(dim, place, 1))
            .collect(),
        dim,
    )
}
