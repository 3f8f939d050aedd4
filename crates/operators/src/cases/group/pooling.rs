//! Pools: the largest or the mean of windows.

use super::window::{Windows, positions};
use crate::{
    calls::{Attributes, Call, HostTensor},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::{BoundedNumber, maximum},
        reference::Reference,
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let &[batch, channels, ref spatial @ .., last] = sizes.sizes else {
        return Vec::new();
    };
    let x = sizes.floats(0, &[&[batch, channels], spatial].concat(), [-2.0, 2.0]);
    variants(sizes.operator, last, spatial.len())
        .into_iter()
        .map(|(variant, attributes)| Case::named(variant, sizes.call(vec![x.clone()], attributes)))
        .collect()
}

/// The attributes of each variant; `last` is the window, or the number of windows.
fn variants(operator: Operator, last: usize, rank: usize) -> Vec<(&'static str, Attributes)> {
    let plain = Attributes {
        kernel: vec![last; rank],
        stride: vec![last; rank],
        ..Attributes::default()
    };
    let overlapping = Attributes {
        stride: vec![1; rank],
        // PyTorch permits no more than half of the window.
        padding: vec![last / 2; rank],
        ..plain.clone()
    };
    match operator {
        // As many windows as elements are the identity, one window is the mean of all.
        Operator::AdaptiveAvgPool1d | Operator::AdaptiveAvgPool2d => vec![
            ("", Attributes::of_shape(vec![last; rank])),
            ("to 1", Attributes::of_shape(vec![1; rank])),
        ],
        Operator::MaxPool1d | Operator::MaxPool2d | Operator::MaxPool3d => {
            let spread = Attributes {
                dilation: vec![2; rank],
                padding: vec![1; rank],
                ..plain.clone()
            };
            vec![
                ("plain", plain),
                ("overlapping, padded", overlapping),
                ("dilation 2, padded", spread),
            ]
        }
        _ => {
            let counted = Attributes {
                count_include_pad: true,
                ..overlapping.clone()
            };
            vec![
                ("plain", plain),
                ("overlapping, padding counted", counted),
                ("overlapping, padding not counted", overlapping),
            ]
        }
    }
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let Some(x) = call.tensor(0) else {
        return Reference::computed(arithmetic, [0], Vec::new());
    };
    let spatial = &x.shape[2..];
    let (output, windows) = match call.operator {
        Operator::AdaptiveAvgPool1d | Operator::AdaptiveAvgPool2d => {
            adaptive(spatial, &call.attributes.shape)
        }
        _ => {
            let windows = Windows::new(spatial, &call.attributes.kernel, &call.attributes);
            let output = windows.output();
            let elements = positions(&output)
                .iter()
                .map(|place| windows.elements(place))
                .collect();
            (output, elements)
        }
    };
    let shape = [&x.shape[..2], &output].concat();
    match call.operator {
        Operator::MaxPool1d | Operator::MaxPool2d | Operator::MaxPool3d => {
            let largest =
                |seen: &mut dyn Iterator<Item = f64>| seen.fold(f64::NEG_INFINITY, maximum);
            let pooled = pooled(x, &windows, |seen, _| {
                BoundedNumber::exact(largest(&mut seen.iter().copied()))
            });
            Reference::computed(arithmetic, shape, pooled)
        }
        _ => Reference::summed(
            arithmetic,
            shape,
            pooled(x, &windows, |seen: &[f64], size: usize| {
                // No window exceeds the padded input, so that its whole size is the divisor, as in
                // PyTorch without `ceil_mode`.
                let count = if call.attributes.count_include_pad {
                    size
                } else {
                    seen.len()
                };
                let sum = arithmetic.sum(seen.iter().map(|value| BoundedNumber::exact(*value)));
                arithmetic.div(sum, BoundedNumber::exact(count as f64))
            }),
        ),
    }
}

/// Of every plane of `x` and every window the number that `pool` computes from the elements in it
/// and its size.
fn pooled(
    x: &HostTensor,
    windows: &[Vec<Option<usize>>],
    pool: impl Fn(&[f64], usize) -> BoundedNumber,
) -> Vec<BoundedNumber> {
    let plane: usize = x.shape[2..].iter().product();
    let planes = x.shape[0] * x.shape[1];
    (0..planes)
        .flat_map(|index| windows.iter().map(move |window| (index * plane, window)))
        .map(|(start, window)| {
            let seen: Vec<f64> = window
                .iter()
                .filter_map(|place| Some(x.values[start + (*place)?]))
                .collect();
            pool(&seen, window.len())
        })
        .collect()
}

/// The windows of adaptive pooling: from floor(i * in / out) to ceil((i + 1) * in / out).
fn adaptive(input: &[usize], output: &[usize]) -> (Vec<usize>, Vec<Vec<Option<usize>>>) {
    let strides = crate::calls::row_major_strides(input);
    (
        output.to_vec(),
        positions(output)
            .iter()
            .map(|place| {
                let ranges = place
                    .iter()
                    .zip(input)
                    .zip(output)
                    .map(|((index, input), output)| {
                        (index * input / output)..((index + 1) * input).div_ceil(*output)
                    });
                ranges
                    .zip(&strides)
                    .fold(vec![Some(0)], |seen, (range, stride)| {
                        seen.into_iter()
                            .flat_map(|start| {
                                range
                                    .clone()
                                    .map(move |index| start.map(|start| start + index * stride))
                            })
                            .collect()
                    })
            })
            .collect(),
    )
}
