//! Pools: the largest or the mean of windows.

use crate::operators::{
    arguments::CallArguments,
    float::{dims, full, maximum, narrow, reshape, sum},
    value::DeviceTensor,
    window::TensorWindows,
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
        MaxPool1d | MaxPool2d | MaxPool3d => largest(arguments),
        AvgPool1d | AvgPool2d | AvgPool3d => mean(arguments),
        AdaptiveAvgPool1d | AdaptiveAvgPool2d => adaptive(arguments),
        _ => Err(arguments.refused("it is not a pool")),
    }
}

/// The largest of each window, with minus infinity around the input.
fn largest<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    // burn's own pooling loses NaN, which PyTorch's keeps.
    let windows = TensorWindows::new(&arguments.attributes.kernel, arguments.attributes);
    let slices = windows.slices::<B>(arguments.float(0)?, f64::NEG_INFINITY);
    let largest = slices.into_iter().reduce(maximum::<B>);
    largest
        .map(DeviceTensor::Float)
        .ok_or_else(|| arguments.refused("the kernel is empty"))
}

/// The mean of each window, in f32.
fn mean<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let x = arguments.single(0)?;
    let windows = TensorWindows::new(&arguments.attributes.kernel, arguments.attributes);
    let total = summed::<B>(windows.slices::<B>(x.clone(), 0.0))
        .ok_or_else(|| arguments.refused("the kernel is empty"))?;
    if arguments.attributes.count_include_pad {
        return Ok(arguments.rounded(B::float_div_scalar(total, (windows.taps() as f64).into())));
    }
    // The number of elements of each window is the sum of ones, of which the padding has none.
    // Of a single channel: the counts are the same for all, and the division broadcasts them.
    let ones = full::<B>(&[&[1, 1], &dims::<B>(&x)[2..]].concat(), 1.0, &x);
    let counts = summed::<B>(windows.slices::<B>(ones, 0.0))
        .ok_or_else(|| arguments.refused("the kernel is empty"))?;
    Ok(arguments.rounded(B::float_div(total, counts)))
}

fn summed<B: Ops>(slices: Vec<FloatTensor<B>>) -> Option<FloatTensor<B>> {
    slices.into_iter().reduce(B::float_add)
}

/// The means of windows from floor(i * in / out) to ceil((i + 1) * in / out), one dimension after
/// the other, in f32.
fn adaptive<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let x = arguments.single(0)?;
    let pooled = arguments
        .attributes
        .shape
        .iter()
        .enumerate()
        .fold(x, |x, (dimension, count)| {
            let (dim, length) = (dimension + 2, dims::<B>(&x)[dimension + 2]);
            B::float_cat(
                (0..*count)
                    .map(|index| {
                        let range = [
                            index * length / count,
                            ((index + 1) * length).div_ceil(*count),
                            1,
                        ];
                        let window = narrow::<B>(x.clone(), dim, range);
                        let mut kept = dims::<B>(&window);
                        let size = kept[dim];
                        kept[dim] = 1;
                        let total = reshape::<B>(sum::<B>(window, dim), kept);
                        B::float_div_scalar(total, (size as f64).into())
                    })
                    .collect(),
                dim,
            )
        });
    Ok(arguments.rounded(pooled))
}
