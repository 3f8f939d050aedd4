//! Convolutions, and the transposed one.

use crate::operators::{
    arguments::CallArguments,
    float::{as_channels, dims, narrow, pad, reshape},
    value::DeviceTensor,
    window::TensorWindows,
};
use burn_tensor::{
    FloatDType, Shape,
    ops::{ConvOptions, ConvTransposeOptions, FloatTensor},
};
use testgen_nn::backend::Ops;
use testgen_operators::calls::{Attributes, CallError};
use testgen_types::{DeviceKind, Operator};

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        Conv1d | Conv2d | Conv3d => convolved(arguments),
        ConvTranspose2d => transposed(arguments),
        _ => Err(arguments.refused("it is not a convolution")),
    }
}

fn convolved<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let (x, weight) = (arguments.float(0)?, arguments.float(1)?);
    // Products, because burn 0.21's own convolutions are wrong in 16 bits there (docs/hardware.md).
    if B::kind(arguments.device) != DeviceKind::Cpu {
        return Ok(DeviceTensor::Float(product_of_windows::<B>(
            x,
            weight,
            arguments.optional(2)?,
            arguments.attributes,
        )));
    }
    // Of 16 bits in f32, rounded once; see the convolutions of models.
    let bias = arguments
        .optional(2)?
        .map(|bias| B::float_cast(bias, FloatDType::F32));
    Ok(arguments.rounded(on_host::<B>(
        arguments.single(0)?,
        arguments.single(1)?,
        bias,
        arguments.attributes,
    )))
}

fn on_host<B: Ops>(
    x: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: Option<FloatTensor<B>>,
    attributes: &Attributes,
) -> FloatTensor<B> {
    fn options<const N: usize>(attributes: &Attributes) -> ConvOptions<N> {
        let [stride, padding, dilation] = windows_of::<N>(attributes);
        ConvOptions::new(stride, padding, dilation, attributes.groups)
    }
    match dims::<B>(&x).len() {
        3 => B::conv1d(x, weight, bias, options::<1>(attributes)),
        4 => B::conv2d(x, weight, bias, options::<2>(attributes)),
        _ => B::conv3d(x, weight, bias, options::<3>(attributes)),
    }
}

/// Stride, padding and dilation of `N` dimensions.
fn windows_of<const N: usize>(attributes: &Attributes) -> [[usize; N]; 3] {
    let parts = [
        (&attributes.stride, 1),
        (&attributes.padding, 0),
        (&attributes.dilation, 1),
    ];
    parts.map(|(given, default)| {
        std::array::from_fn(|dimension| given.get(dimension).copied().unwrap_or(default))
    })
}

/// `weight` [groups, out, in * taps] times the windows [batch, groups, in * taps, windows].
pub(crate) fn product_of_windows<B: Ops>(
    x: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: Option<FloatTensor<B>>,
    attributes: &Attributes,
) -> FloatTensor<B> {
    let ([batch, inner], shape) = (
        [0, 1].map(|dimension| dims::<B>(&x)[dimension]),
        dims::<B>(&weight),
    );
    let (out, groups, rank) = (shape[0], attributes.groups, shape.len());
    let windows = TensorWindows::new(&shape[2..], attributes);
    let output = windows.output(&dims::<B>(&x)[2..]);
    let count: usize = output.iter().product();
    let slices = windows
        .slices::<B>(x, 0.0)
        .into_iter()
        .map(|slice| {
            // For each channel its positions of the kernel one after another, as the weight has
            // them.
            reshape::<B>(slice, [batch, inner, 1, count])
        })
        .collect();
    let seen = B::float_cat(slices, 2);
    let depth = inner / groups * windows.taps();
    let seen = reshape::<B>(seen, [batch, groups, depth, count]);
    let weight = reshape::<B>(weight, [1, groups, out / groups, depth]);
    let weight = if batch == 1 {
        weight
    } else {
        crate::operators::float::expand::<B>(weight, &[batch, groups, out / groups, depth])
    };
    let product = B::matmul_op(weight, seen);
    let product = reshape::<B>(product, [&[batch, out], &output[..]].concat());
    match bias {
        Some(bias) => B::float_add(product, as_channels::<B>(bias, rank)),
        None => product,
    }
}

fn transposed<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    if B::kind(arguments.device) == DeviceKind::Cpu {
        return transposed_on_host(arguments);
    }
    let [stride, padding, dilation] = windows_of::<2>(arguments.attributes);
    let output = output_padding(arguments.attributes);
    let (x, weight) = (arguments.float(0)?, arguments.float(1)?);
    let kernel = dims::<B>(&weight)[2..].to_vec();
    // The same as a plain convolution of the spread and padded input with the turned kernel.
    let spread = (0..2).fold(x, |x, dimension| {
        let x = spread::<B>(x, dimension + 2, stride[dimension]);
        let reach = dilation[dimension] * (kernel[dimension] - 1);
        // A padding beyond the reach of the kernel cuts elements off.
        let [cut, ends] = [
            padding[dimension].saturating_sub(reach),
            reach.saturating_sub(padding[dimension]),
        ];
        let length = dims::<B>(&x)[dimension + 2];
        let x = narrow::<B>(x, dimension + 2, [cut, length - cut, 1]);
        pad::<B>(x, dimension + 2, [ends, ends + output[dimension]], 0.0)
    });
    let plain = Attributes {
        dilation: dilation.to_vec(),
        groups: arguments.attributes.groups,
        ..Attributes::default()
    };
    let turned = turned::<B>(weight, arguments.attributes.groups);
    Ok(DeviceTensor::Float(product_of_windows::<B>(
        spread,
        turned,
        arguments.optional(2)?,
        &plain,
    )))
}

fn transposed_on_host<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let [stride, padding, dilation] = windows_of::<2>(arguments.attributes);
    let options = ConvTransposeOptions::new(
        stride,
        padding,
        output_padding(arguments.attributes),
        dilation,
        arguments.attributes.groups,
    );
    let bias = arguments
        .optional(2)?
        .map(|bias| B::float_cast(bias, FloatDType::F32));
    Ok(arguments.rounded(B::conv_transpose2d(
        arguments.single(0)?,
        arguments.single(1)?,
        bias,
        options,
    )))
}

/// Elements that are added at the end of height and width.
fn output_padding(attributes: &Attributes) -> [usize; 2] {
    std::array::from_fn(|dimension| {
        let added = attributes.output_padding.get(dimension);
        added.copied().unwrap_or(0)
    })
}

/// `stride` - 1 zeros between neighbours of a dimension.
fn spread<B: Ops>(x: FloatTensor<B>, dim: usize, stride: usize) -> FloatTensor<B> {
    let shape = dims::<B>(&x);
    if stride == 1 {
        return x;
    }
    let mut split = shape.clone();
    split.insert(dim + 1, 1);
    let padded = pad::<B>(reshape::<B>(x, split), dim + 1, [0, stride - 1], 0.0);
    let mut joined = shape.clone();
    joined[dim] *= stride;
    // The zeros after the last element are between no neighbours.
    narrow::<B>(
        reshape::<B>(padded, joined.clone()),
        dim,
        [0, joined[dim] - (stride - 1), 1],
    )
}

/// [in, out / groups, height, width] to [out, in / groups, height, width], with both directions of
/// the kernel reversed.
fn turned<B: Ops>(weight: FloatTensor<B>, groups: usize) -> FloatTensor<B> {
    let shape = dims::<B>(&weight);
    let (inner, part, kernel) = (shape[0] / groups, shape[1], &shape[2..]);
    let split = reshape::<B>(
        B::float_flip(weight, &[2, 3]),
        [&[groups, inner, part], kernel].concat(),
    );
    let exchanged = B::float_permute(split, &[0, 2, 1, 3, 4]);
    B::float_reshape(
        exchanged,
        Shape::from([&[groups * part, inner], kernel].concat()),
    )
}
