//! Normalisations over the last dimension.

use crate::{
    backend::{self, Ops},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// Layer normalisation (Ba, Kiros and Hinton 2016), `nn.LayerNorm`.
pub(crate) struct LayerNorm<B: Ops> {
    weight: Tensor<B, 1>,
    bias: Tensor<B, 1>,
    eps: f64,
}

impl<B: Ops> LayerNorm<B> {
    /// `weight` and `bias` [width].
    pub(crate) fn load(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        Ok(Self { weight: w.tensor("weight", [width])?, bias: w.tensor("bias", [width])?, eps })
    }

    /// As [`LayerNorm::load`], with a bias only where the configuration says so.
    pub(crate) fn load_with_bias(w: &Weights<B>, width: usize, eps: f64, bias: bool) -> Result<Self, WeightsError> {
        if bias {
            return Self::load(w, width, eps);
        }
        let weight: Tensor<B, 1> = w.tensor("weight", [width])?;
        let bias = Tensor::zeros([width], (w.device(), weight.dtype()));
        Ok(Self { weight, bias, eps })
    }

    /// Without parameters, as `elementwise_affine=False`.
    pub(crate) fn plain(w: &Weights<B>, width: usize, eps: f64) -> Self {
        let options = (w.device(), w.dtype());
        Self { weight: Tensor::ones([width], options), bias: Tensor::zeros([width], options), eps }
    }

    /// The normalised `x`.
    pub(crate) fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        backend::layer_norm(x, self.weight.clone(), self.bias.clone(), self.eps)
    }

    /// The normalised `x + residual`.
    pub(crate) fn forward_sum<const D: usize>(&self, x: Tensor<B, D>, residual: Tensor<B, D>) -> Tensor<B, D> {
        backend::add_layer_norm(x, residual, self.weight.clone(), self.bias.clone(), self.eps)
    }
}

/// Root-mean-square normalisation (Zhang and Sennrich 2019), `LlamaRMSNorm`.
pub(crate) struct RmsNorm<B: Ops> {
    weight: Tensor<B, 1>,
    eps: f64,
}

impl<B: Ops> RmsNorm<B> {
    /// `weight` [width].
    pub(crate) fn load(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        Ok(Self { weight: w.tensor("weight", [width])?, eps })
    }

    /// The normalised `x`.
    pub(crate) fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        backend::rms_norm(x, self.weight.clone(), self.eps)
    }

    /// The length of the dimension that it normalises.
    pub(crate) fn width(&self) -> usize {
        self.weight.dims()[0]
    }
}
