//! Batch normalisation of images, in evaluation mode.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn::tensor::{DType, Tensor, TensorData};

/// `nn.BatchNorm2d` (Ioffe and Szegedy 2015) with its running statistics: one scale and one shift for each channel.
pub(crate) struct BatchNorm2d<B: Ops> {
    scale: Tensor<B, 4>,
    shift: Tensor<B, 4>,
}

/// PyTorch's default, which every model of the registry keeps.
const EPS: f64 = 1e-5;

impl<B: Ops> BatchNorm2d<B> {
    /// `weight`, `bias`, `running_mean` and `running_var` [channels].
    pub(crate) fn load(w: &Weights<B>, channels: usize) -> Result<Self, WeightsError> {
        let values = |name| w.values(name, &[channels]);
        let (weight, bias) = (values("weight")?, values("bias")?);
        let (mean, variance) = (values("running_mean")?, values("running_var")?);
        let (mut scale, mut shift) = (Vec::with_capacity(channels), Vec::with_capacity(channels));
        for channel in 0..channels {
            let factor = f64::from(weight[channel]) / (f64::from(variance[channel]) + EPS).sqrt();
            scale.push(factor as f32);
            shift.push((f64::from(bias[channel]) - f64::from(mean[channel]) * factor) as f32);
        }
        let put = |values| Tensor::from_data(TensorData::new(values, [1, channels, 1, 1]), (w.device(), DType::F32));
        Ok(Self { scale: put(scale), shift: put(shift) })
    }

    /// [batch, channels, height, width]; computed in f32 and rounded once.
    pub(crate) fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        let dtype = x.dtype();
        let y = x.cast(DType::F32) * self.scale.clone() + self.shift.clone();
        y.cast(dtype)
    }
}
