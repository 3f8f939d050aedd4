//! Patterns that engines fuse into one kernel; burn computes them one after another.

use crate::operators::{
    arguments::CallArguments,
    convolution::product_of_windows,
    float::{dims, reshape},
    normalisation::by_statistics,
    value::DeviceTensor,
};
use burn_tensor::FloatDType;
use testgen_nn::backend::{Activation, Ops};
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let (a, b) = (arguments.float(0)?, arguments.float(1)?);
    let x = match arguments.operator {
        // The product of models, which adds the bias itself where its kernel can.
        Operator::MatmulBiasRelu | Operator::MatmulBiasGelu => {
            B::affine_op(a, b, Some(bias_row::<B>(arguments)?))
        }
        Operator::ConvBatchNormRelu => {
            let product = product_of_windows::<B>(a, b, None, arguments.attributes);
            let statistics = [
                arguments.single(2)?,
                arguments.single(3)?,
                arguments.single(4)?,
                arguments.single(5)?,
            ];
            let normal = by_statistics::<B>(
                B::float_cast(product, FloatDType::F32),
                statistics,
                arguments.attributes.eps,
            );
            B::float_cast(normal, arguments.dtype())
        }
        Operator::AddRelu => B::float_add(a, b),
        _ => {
            // `mul_add` is the only pattern without an activation.
            return Ok(DeviceTensor::Float(B::float_add(
                B::float_mul(a, b),
                arguments.float(2)?,
            )));
        }
    };
    let activation = if arguments.operator == Operator::MatmulBiasGelu {
        Activation::Gelu
    } else {
        Activation::Relu
    };
    Ok(DeviceTensor::Float(B::activation_op(x, activation)))
}

/// The bias as a vector.
fn bias_row<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<burn_tensor::ops::FloatTensor<B>, CallError> {
    let bias = arguments.float(2)?;
    let width = dims::<B>(&bias).iter().product();
    Ok(reshape::<B>(bias, [width]))
}
