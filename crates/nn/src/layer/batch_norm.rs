//! Batch normalisation in evaluation mode, with its running statistics: one scale and one shift for
//! each feature.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor, TensorData};

/// `nn.BatchNorm2d` (Ioffe and Szegedy 2015), over the channels of images.
pub struct BatchNorm2d<B: Ops>(Affine<B, 4>);

/// `nn.BatchNorm1d`, over the last dimension of sequences.
pub struct FeatureBatchNorm<B: Ops>(Affine<B, 3>);

/// PyTorch's default, which every model of the registry keeps for images.
const EPS: f64 = 1e-5;

impl<B: Ops> BatchNorm2d<B> {
    /// `weight`, `bias`, `running_mean` and `running_var` `[channels]`.
    pub fn load(w: &Weights<B>, channels: usize) -> Result<Self, WeightsError> {
        Affine::load(w, channels, EPS, [1, channels, 1, 1]).map(Self)
    }

    /// [batch, channels, height, width]; computed in f32 and rounded once.
    pub fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 4> {
        self.0.forward(x)
    }
}

impl<B: Ops> FeatureBatchNorm<B> {
    /// `weight`, `bias`, `running_mean` and `running_var` `[width]`.
    pub fn load(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        Affine::load(w, width, eps, [1, 1, width]).map(Self)
    }

    /// [batch, positions, width]; computed in f32 and rounded once.
    pub fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.0.forward(x)
    }
}

/// x scale + shift, both along one dimension.
struct Affine<B: Ops, const D: usize> {
    scale: Tensor<B, D>,
    shift: Tensor<B, D>,
}

impl<B: Ops, const D: usize> Affine<B, D> {
    fn load(
        w: &Weights<B>,
        features: usize,
        eps: f64,
        shape: [usize; D],
    ) -> Result<Self, WeightsError> {
        let values = |name| w.values(name, &[features]);
        let (weight, bias) = (values("weight")?, values("bias")?);
        let (mean, variance) = (values("running_mean")?, values("running_var")?);
        let (mut scale, mut shift) = (Vec::with_capacity(features), Vec::with_capacity(features));
        for feature in 0..features {
            // In f64: the factor is computed once, and its error would be in every output.
            let factor = f64::from(weight[feature]) / (f64::from(variance[feature]) + eps).sqrt();
            scale.push(factor as f32);
            shift.push((f64::from(bias[feature]) - f64::from(mean[feature]) * factor) as f32);
        }
        let put =
            |values| Tensor::from_data(TensorData::new(values, shape), (w.device(), DType::F32));
        Ok(Self {
            scale: put(scale),
            shift: put(shift),
        })
    }

    fn forward(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        let dtype = x.dtype();
        let y = x.cast(DType::F32) * self.scale.clone() + self.shift.clone();
        y.cast(dtype)
    }
}
