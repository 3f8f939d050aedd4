//! Sums, means, extremes and products, of all elements or over a dimension.

use crate::operators::{
    arguments::CallArguments,
    float::{dims, reshape, without},
    value::DeviceTensor,
};
use burn_tensor::{
    FloatDType, Shape, TensorMetadata, get_device_settings,
    ops::{FloatTensor, IntTensor},
};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn reduced<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let sums = matches!(
        arguments.operator,
        Operator::Sum | Operator::Mean | Operator::Prod
    );
    match arguments.value(0)? {
        // Sums of 16 bits are accumulated in f32 and rounded once, as PyTorch's are.
        DeviceTensor::Float(_) if sums => {
            Ok(arguments.rounded(floats::<B>(arguments, arguments.single(0)?)))
        }
        DeviceTensor::Float(x) => Ok(DeviceTensor::Float(floats::<B>(arguments, x))),
        DeviceTensor::Int(x) => ints::<B>(arguments, x).map(DeviceTensor::Int),
        DeviceTensor::Bool(_) => Err(arguments.refused("it does not compute booleans")),
    }
}

fn floats<B: Ops>(arguments: &CallArguments<'_, B>, x: FloatTensor<B>) -> FloatTensor<B> {
    let shape = dims::<B>(&x);
    let Some(dim) = arguments.attributes.dim else {
        // A single row, because `with_nan_of` looks for NaN along a dimension.
        let row = reshape::<B>(x.clone(), [1, shape.iter().product()]);
        let whole = match arguments.operator {
            Operator::Sum => B::float_sum(x),
            Operator::Mean => B::float_mean(x),
            Operator::Max => largest::<B>(row, 1),
            Operator::Min => smallest::<B>(row, 1),
            _ => B::float_prod(x),
        };
        return reshape::<B>(whole, [1]);
    };
    let kept = match arguments.operator {
        Operator::Sum => B::float_sum_dim(x, dim),
        Operator::Mean => B::float_mean_dim(x, dim),
        Operator::Max => largest::<B>(x, dim),
        Operator::Min => smallest::<B>(x, dim),
        _ => B::float_prod_dim(x, dim),
    };
    reshape::<B>(kept, without(&shape, dim))
}

/// The largest along `dim`; NaN where one is NaN.
fn largest<B: Ops>(x: FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    // burn 0.21's own maximum loses NaN on GPUs, and of a whole tensor on the CPU.
    with_nan_of::<B>(x.clone(), B::float_max_dim(x, dim), dim)
}

/// As above, for the smallest.
fn smallest<B: Ops>(x: FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    with_nan_of::<B>(x.clone(), B::float_min_dim(x, dim), dim)
}

/// `extremes` with NaN for each line of `x` that has one.
fn with_nan_of<B: Ops>(x: FloatTensor<B>, extremes: FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    let device = B::float_device(&x);
    let truths = get_device_settings::<B>(&device).bool_dtype;
    let marks = B::bool_into_float(B::float_is_nan(x, truths), FloatDType::F32);
    let marked = B::float_greater_elem(B::float_sum_dim(marks, dim), 0.0.into(), truths);
    B::float_mask_fill(extremes, marked, f64::NAN.into())
}

fn ints<B: Ops>(
    arguments: &CallArguments<'_, B>,
    x: IntTensor<B>,
) -> Result<IntTensor<B>, CallError> {
    let shape = x.shape().to_vec();
    let Some(dim) = arguments.attributes.dim else {
        let whole = match arguments.operator {
            Operator::Sum => B::int_sum(x),
            Operator::Max => B::int_max(x),
            Operator::Min => B::int_min(x),
            Operator::Prod => B::int_prod(x),
            _ => return Err(arguments.refused("the mean of integers is not an integer")),
        };
        // burn has no tensors without dimensions.
        return Ok(B::int_reshape(whole, Shape::from([1])));
    };
    let kept = match arguments.operator {
        Operator::Sum => B::int_sum_dim(x, dim),
        Operator::Max => B::int_max_dim(x, dim),
        Operator::Min => B::int_min_dim(x, dim),
        Operator::Prod => B::int_prod_dim(x, dim),
        _ => return Err(arguments.refused("the mean of integers is not an integer")),
    };
    Ok(B::int_reshape(kept, Shape::from(without(&shape, dim))))
}
