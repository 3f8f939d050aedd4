//! Normalisations: by recorded statistics, or by the statistics of the elements themselves.

use crate::operators::{
    arguments::CallArguments,
    float::{as_channels, dims, reshape},
    value::DeviceTensor,
};
use burn_tensor::ops::FloatTensor;
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        BatchNorm => batch_norm(arguments),
        LayerNorm | RmsNorm => of_rows(arguments),
        GroupNorm | InstanceNorm => of_groups(arguments),
        _ => Err(arguments.refused("it is not a normalisation")),
    }
}

/// Over the last dimension, as models compute them.
fn of_rows<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let (x, weight, eps) = (
        arguments.float(0)?,
        arguments.float(1)?,
        arguments.attributes.eps,
    );
    Ok(DeviceTensor::Float(match arguments.operator {
        Operator::RmsNorm => B::rms_norm_op(x, weight, eps),
        _ => B::layer_norm_op(x, weight, arguments.float(2)?, eps),
    }))
}

/// Of groups of channels, or each channel by itself; in f32.
fn of_groups<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let x = arguments.single(0)?;
    let shape = dims::<B>(&x);
    let groups = if arguments.operator == Operator::GroupNorm {
        arguments.attributes.groups
    } else {
        shape[1]
    };
    let width: usize = shape[1..].iter().product::<usize>() / groups.max(1);
    let rows = reshape::<B>(x, [shape[0] * groups, width]);
    let centred = B::float_sub(rows.clone(), B::float_mean_dim(rows, 1));
    // From centred numbers: the difference of two large means of squares would lose it.
    let variance = B::float_mean_dim(B::float_mul(centred.clone(), centred.clone()), 1);
    let scale = B::float_recip(B::float_sqrt(B::float_add_scalar(
        variance,
        arguments.attributes.eps.into(),
    )));
    let normal = reshape::<B>(B::float_mul(centred, scale), shape.clone());
    let [weight, bias] = [arguments.single(1)?, arguments.single(2)?]
        .map(|vector| as_channels::<B>(vector, shape.len()));
    Ok(arguments.rounded(B::float_add(B::float_mul(normal, weight), bias)))
}

fn batch_norm<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let statistics = [
        arguments.single(1)?,
        arguments.single(2)?,
        arguments.single(3)?,
        arguments.single(4)?,
    ];
    Ok(arguments.rounded(by_statistics::<B>(
        arguments.single(0)?,
        statistics,
        arguments.attributes.eps,
    )))
}

/// `x` by weight, bias, mean and variance of its channels, in f32.
pub(crate) fn by_statistics<B: Ops>(
    x: FloatTensor<B>,
    statistics: [FloatTensor<B>; 4],
    eps: f64,
) -> FloatTensor<B> {
    let rank = dims::<B>(&x).len();
    let [weight, bias, mean, variance] = statistics.map(|vector| as_channels::<B>(vector, rank));
    let scale = B::float_mul(
        B::float_recip(B::float_sqrt(B::float_add_scalar(variance, eps.into()))),
        weight,
    );
    B::float_add(B::float_mul(B::float_sub(x, mean), scale), bias)
}
