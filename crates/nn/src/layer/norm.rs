//! Normalisations over the last dimension.

use crate::{
    backend::{self, Ops},
    weights::{Weights, WeightsError},
};
use burn_tensor::{DType, Tensor, TensorData};

/// Layer normalisation (Ba, Kiros and Hinton 2016), `nn.LayerNorm`.
pub struct LayerNorm<B: Ops> {
    weight: Tensor<B, 1>,
    bias: Tensor<B, 1>,
    eps: f64,
}

impl<B: Ops> LayerNorm<B> {
    /// `weight` and `bias` `[width]`.
    pub fn load(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        Ok(Self {
            weight: w.tensor("weight", [width])?,
            bias: w.tensor("bias", [width])?,
            eps,
        })
    }

    /// As [`LayerNorm::load`], with a bias only if the configuration has one.
    pub fn load_with_bias(
        w: &Weights<B>,
        width: usize,
        eps: f64,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        if bias {
            return Self::load(w, width, eps);
        }
        let weight: Tensor<B, 1> = w.tensor("weight", [width])?;
        // Zeros: the operation always has a bias.
        let bias = Tensor::zeros([width], (w.device(), weight.dtype()));
        Ok(Self { weight, bias, eps })
    }

    /// Without parameters, as `elementwise_affine=False`.
    pub fn without_weights(w: &Weights<B>, width: usize, eps: f64) -> Self {
        let options = (w.device(), w.dtype());
        Self {
            weight: Tensor::ones([width], options),
            bias: Tensor::zeros([width], options),
            eps,
        }
    }

    /// The normalised `x`.
    pub fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        backend::layer_norm(x, self.weight.clone(), self.bias.clone(), self.eps)
    }

    /// The normalised `x + residual`.
    pub fn forward_sum<const D: usize>(
        &self,
        x: Tensor<B, D>,
        residual: Tensor<B, D>,
    ) -> Tensor<B, D> {
        backend::add_layer_norm(
            x,
            residual,
            self.weight.clone(),
            self.bias.clone(),
            self.eps,
        )
    }
}

/// Root-mean-square normalisation of groups of channels, `MambaRMSNormGated` after its gate.
pub struct GroupRmsNorm<B: Ops> {
    weight: Tensor<B, 3>,
    /// f32, as wide as a group.
    ones: Tensor<B, 1>,
    eps: f64,
}

impl<B: Ops> GroupRmsNorm<B> {
    /// `weight` `[width]`, in `groups`.
    pub fn load(
        w: &Weights<B>,
        width: usize,
        groups: usize,
        eps: f64,
    ) -> Result<Self, WeightsError> {
        let weight = w.tensor("weight", [width])?.reshape([1, 1, width]);
        Ok(Self {
            weight,
            ones: Tensor::ones([width / groups], (w.device(), DType::F32)),
            eps,
        })
    }

    /// The normalised `x` [batch, seq, width], f32, in `dtype`.
    pub fn forward(&self, x: Tensor<B, 3>, dtype: DType) -> Tensor<B, 3> {
        let ([batch, seq, width], [part]) = (x.dims(), self.ones.dims());
        let x = x.reshape([batch, seq, width / part, part]);
        // With weights of one, because the class applies its own after it has rounded to the
        // model's type.
        let y = backend::rms_norm(x, self.ones.clone(), self.eps).reshape([batch, seq, width]);
        y.cast(dtype) * self.weight.clone()
    }
}

/// Root-mean-square normalisation (Zhang and Sennrich 2019), `LlamaRMSNorm`.
pub struct RmsNorm<B: Ops> {
    weight: Tensor<B, 1>,
    eps: f64,
}

impl<B: Ops> RmsNorm<B> {
    /// `weight` `[width]`.
    pub fn load(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        Ok(Self {
            weight: w.tensor("weight", [width])?,
            eps,
        })
    }

    /// `Gemma2RMSNorm`: `weight` `[width]` is what is added to one; it is applied in f32, and the
    /// result rounded once.
    pub fn load_unit_offset(w: &Weights<B>, width: usize, eps: f64) -> Result<Self, WeightsError> {
        let weight: Vec<f32> = w
            .values("weight", &[width])?
            .into_iter()
            .map(|weight| 1.0 + weight)
            .collect();
        let weight = Tensor::from_data(TensorData::new(weight, [width]), (w.device(), DType::F32));
        Ok(Self { weight, eps })
    }

    /// The normalised `x`, computed in the type of the weight.
    pub fn forward<const D: usize>(&self, x: Tensor<B, D>) -> Tensor<B, D> {
        let (dtype, own) = (x.dtype(), self.weight.dtype());
        // The norms of Gemma have a weight in f32, and multiply by it before they round.
        let x = if dtype == own { x } else { x.cast(own) };
        let y = backend::rms_norm(x, self.weight.clone(), self.eps);
        if dtype == own { y } else { y.cast(dtype) }
    }

    /// The length of the dimension that it normalises.
    pub fn width(&self) -> usize {
        self.weight.dims()[0]
    }
}
