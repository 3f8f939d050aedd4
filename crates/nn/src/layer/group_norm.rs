//! Group normalisation of images (Wu and He 2018), `nn.GroupNorm`.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor};

/// Normalises the channels of each group together.
pub struct GroupNorm<B: Ops> {
    weight: Tensor<B, 1>,
    bias: Tensor<B, 1>,
    groups: usize,
    eps: f64,
}

impl<B: Ops> GroupNorm<B> {
    /// `weight` and `bias` `[channels]`.
    pub fn load(
        w: &Weights<B>,
        groups: usize,
        channels: usize,
        eps: f64,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            weight: w.tensor("weight", [channels])?,
            bias: w.tensor("bias", [channels])?,
            groups,
            eps,
        })
    }

    /// [batch, channels, height, width]; computed in f32 and rounded once.
    pub fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let (dtype, [batch, channels, height, width]) = (x.dtype(), x.dims());
        let x = x.cast(DType::F32).reshape([
            batch,
            self.groups,
            channels / self.groups * height * width,
        ]);
        // Centred first: the difference of two large means of squares would lose digits.
        let centred = x.clone() - x.mean_dim(2);
        let variance = (centred.clone() * centred.clone()).mean_dim(2);
        let normal =
            (centred / (variance + self.eps).sqrt()).reshape([batch, channels, height, width]);
        let of_channel = |x: &Tensor<B, 1>| x.clone().cast(DType::F32).reshape([1, channels, 1, 1]);
        (normal * of_channel(&self.weight) + of_channel(&self.bias)).cast(dtype)
    }
}
