//! Convolutions of images.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn::tensor::{Tensor, module, ops::ConvOptions};

/// `nn.Conv2d`.
pub(crate) struct Conv2d<B: Ops> {
    weight: Tensor<B, 4>,
    bias: Option<Tensor<B, 1>>,
    stride: [usize; 2],
    padding: [usize; 2],
}

/// Channels [in, out], and kernel, stride and padding [height, width] of a [`Conv2d`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conv2dShape {
    pub(crate) channels: [usize; 2],
    pub(crate) kernel: [usize; 2],
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
}

impl<B: Ops> Conv2d<B> {
    /// `weight` [out, in, height, width], and `bias` [out] where `bias` says so.
    pub(crate) fn load(w: &Weights<B>, shape: Conv2dShape, bias: bool) -> Result<Self, WeightsError> {
        let ([inner, out], [height, width]) = (shape.channels, shape.kernel);
        let weight = w.tensor("weight", [out, inner, height, width])?;
        let bias = bias.then(|| w.tensor("bias", [out])).transpose()?;
        Ok(Self { weight, bias, stride: shape.stride, padding: shape.padding })
    }

    /// [batch, in, height, width] to [batch, out, height', width'].
    pub(crate) fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let options = ConvOptions::new(self.stride, self.padding, [1, 1], 1);
        module::conv2d(x, self.weight.clone(), self.bias.clone(), options)
    }
}
