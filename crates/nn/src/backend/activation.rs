//! The activation functions of transformers' `ACT2FN` that models of the registry use.

use burn_tensor::{Tensor, TensorPrimitive, activation, backend::Backend, ops::FloatTensor};
use serde::Deserialize;

/// An activation function, by its names in `config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// x Φ(x), with the error function.
    Gelu,
    /// The same by another name; a separate variant, because `GemmaConfig` takes only the first
    /// name for the approximation.
    GeluPython,
    /// [`Activation::Gelu`] clipped to -10..10.
    #[serde(rename = "gelu_10")]
    Gelu10,
    /// x Φ(x), with the tanh approximation; the names differ in how PyTorch rounds it, not in the
    /// formula.
    #[serde(
        alias = "gelu_fast",
        alias = "gelu_pytorch_tanh",
        alias = "gelu_python_tanh",
        alias = "gelu_accurate"
    )]
    GeluNew,
    /// x sigmoid(1.702 x).
    QuickGelu,
    /// max(x, 0).
    Relu,
    /// max(x, 0)².
    Relu2,
    /// max(x, 0), at most 6.
    Relu6,
    /// x where positive, 0.01 x where negative.
    LeakyRelu,
    /// x sigmoid(x).
    #[serde(alias = "swish")]
    Silu,
    /// x tanh(ln(1 + eˣ)).
    Mish,
    /// x min(max(x + 3, 0), 6) / 6.
    Hardswish,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// x itself.
    Linear,
}

impl Activation {
    /// The formula in burn's operators, for f32.
    pub(super) fn compose<B: Backend>(self, x: FloatTensor<B>) -> FloatTensor<B> {
        let x: Tensor<B, 1> = Tensor::from_primitive(TensorPrimitive::Float(x));
        self.formula(x).into_primitive().tensor()
    }

    /// `D` is nominal: every formula works element by element, so the primitive keeps its own
    /// shape.
    fn formula<B: Backend>(self, x: Tensor<B, 1>) -> Tensor<B, 1> {
        match self {
            Self::Gelu | Self::GeluPython => activation::gelu(x),
            Self::Gelu10 => activation::gelu(x).clamp(-10.0, 10.0),
            Self::GeluNew => {
                // The constants are those of `NewGELUActivation`.
                let cube = x.clone() * x.clone() * x.clone() * 0.044_715;
                let inner = (x.clone() + cube) * (2.0 / std::f64::consts::PI).sqrt();
                x * 0.5 * (inner.tanh() + 1.0)
            }
            Self::QuickGelu => x.clone() * activation::sigmoid(x * 1.702),
            Self::Relu => relu(x),
            Self::Relu2 => {
                let positive = relu(x);
                positive.clone() * positive
            }
            Self::Relu6 => x.clamp(0.0, 6.0),
            // The default slope of `nn.LeakyReLU`, which transformers does not set.
            Self::LeakyRelu => activation::leaky_relu(x, 0.01),
            Self::Silu => activation::silu(x),
            Self::Mish => x.clone() * activation::softplus(x, 1.0).tanh(),
            Self::Hardswish => x.clone() * (x + 3.0).clamp(0.0, 6.0) / 6.0,
            Self::Sigmoid => activation::sigmoid(x),
            Self::Tanh => x.tanh(),
            Self::Linear => x,
        }
    }
}

/// max(x, 0), where NaN stays NaN as in PyTorch.
fn relu<B: Backend>(x: Tensor<B, 1>) -> Tensor<B, 1> {
    // burn 0.21's own makes NaN 0 on the CPU, which would hide it from `finite`.
    let negative = x.clone().lower_elem(0.0);
    x.mask_fill(negative, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cpu, activate};
    use burn_tensor::{DType, TensorData};

    #[test]
    fn the_relu_of_nan_is_nan() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let data = TensorData::new(vec![f32::NAN, -1.0, 2.0, f32::NEG_INFINITY], [4])
                .convert_dtype(dtype);
            let x: Tensor<Cpu, 1> = Tensor::from_data(data, (&Default::default(), dtype));
            let positive: Vec<f32> = activate(x, Activation::Relu)
                .into_data()
                .iter::<f32>()
                .collect();
            assert!(positive[0].is_nan(), "{dtype:?}: {positive:?}");
            assert_eq!(positive[1..], [0.0, 2.0, 0.0], "{dtype:?}");
        }
    }
}
