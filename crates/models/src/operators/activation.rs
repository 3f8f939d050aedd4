//! Activations and softmaxes.

use crate::operators::{arguments::CallArguments, value::DeviceTensor};
use burn_tensor::{FloatDType, ops::FloatTensor};
use testgen_nn::backend::{Activation, Ops};
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        Relu | Relu6 | Sigmoid | Gelu | Silu => activated(arguments),
        Softmax | LogSoftmax => softmax(arguments),
        _ => Err(arguments.refused("it is not an activation")),
    }
}

/// As models compute them: in f32, rounded once.
fn activated<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let activation = match arguments.operator {
        Operator::Relu => Activation::Relu,
        Operator::Relu6 => Activation::Relu6,
        Operator::Sigmoid => Activation::Sigmoid,
        Operator::Silu => Activation::Silu,
        _ if arguments.attributes.tanh => Activation::GeluNew,
        _ => Activation::Gelu,
    };
    Ok(DeviceTensor::Float(B::activation_op(
        arguments.float(0)?,
        activation,
    )))
}

fn softmax<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let (x, dim) = (arguments.float(0)?, arguments.dim()?);
    let shape = crate::operators::float::dims::<B>(&x);
    // Over the last dimension the softmax of attention computes it, in models as here; its scores
    // have four dimensions.
    if arguments.operator == Operator::Softmax && dim + 1 == shape.len() {
        let wide = crate::operators::float::reshape::<B>(
            x,
            [1, 1, shape[..dim].iter().product(), shape[dim]],
        );
        return Ok(DeviceTensor::Float(crate::operators::float::reshape::<B>(
            B::masked_softmax_op(wide, 1.0, None),
            shape,
        )));
    }
    Ok(arguments.rounded(match arguments.operator {
        Operator::LogSoftmax => log_softmax::<B>(arguments.single(0)?, dim),
        _ => B::softmax(arguments.single(0)?, dim),
    }))
}

/// The logarithm of the softmax of f32.
pub(crate) fn log_softmax<B: Ops>(x: FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    B::log_softmax(B::float_cast(x, FloatDType::F32), dim)
}
