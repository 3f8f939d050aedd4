//! Convolutions and pools: channels, groups and windows.

use super::{
    description::{DimensionSlot, Dimensions, Problem, input, product},
    rows::Described,
};
use crate::cases::group::window::Windows;
use testgen_types::Operator;

/// The largest stride, padding, dilation or window: no case has a larger one, and every size of a
/// result stays below 2^40.
const LARGEST: usize = 1 << 12;

/// Lists that have one number for each spatial dimension, or none.
fn are_lists(dimensions: &Dimensions<'_>, rank: usize) -> Result<(), Problem> {
    let attributes = &dimensions.call().attributes;
    let lists = [
        &attributes.stride,
        &attributes.padding,
        &attributes.dilation,
        &attributes.output_padding,
    ];
    let positive = [&attributes.stride, &attributes.dilation]
        .iter()
        .all(|list| !list.contains(&0));
    match positive
        && lists.iter().all(|list| {
            // An empty list is the default of PyTorch, as `Windows` reads it.
            (list.is_empty() || list.len() == rank) && list.iter().all(|number| *number < LARGEST)
        }) {
        true => Ok(()),
        false => Err(format!(
            "stride, padding or dilation is not a list of {rank} numbers"
        )),
    }
}

/// `x` [batch, in, ...], `weight` [out, in / groups, ...], and vectors of one number for each
/// output channel. Of a transposed one the weight is [in, out / groups, ...].
pub(super) fn convolution(dimensions: &mut Dimensions<'_>) -> Described {
    let x = dimensions.shape(0, None)?;
    let rank = spatial_rank(x)?;
    let weight = dimensions.shape(1, Some(x.len()))?;
    are_lists(dimensions, rank)?;
    let vectors = vectors(dimensions)?;
    let groups = dimensions.call().attributes.groups;
    if groups == 0 || weight.contains(&0) || x.contains(&0) {
        return Err("it has no groups, or an input without elements".to_owned());
    }
    dimensions.tie(x[0], vec![input(0, 0)])?;
    let transposed = dimensions.call().operator == Operator::ConvTranspose2d;
    let out = tie_channels(dimensions, weight, &vectors, transposed)?;
    for dim in 2..x.len() {
        dimensions.tie(x[dim], vec![input(0, dim)])?;
        dimensions.tie(weight[dim], vec![input(1, dim)])?;
    }
    let output = if transposed {
        spread(dimensions, x, weight)?
    } else {
        output(dimensions, &x[2..], &weight[2..])?
    };
    Ok(product(&[&[x[0], groups * out], &output[..]].concat()))
}

/// The number of dimensions after batch and channels, at least one.
fn spatial_rank(x: &[usize]) -> Result<usize, Problem> {
    let rank = x.len().checked_sub(2).filter(|rank| *rank > 0);
    rank.ok_or_else(|| "input 0 has no spatial dimensions".to_owned())
}

/// The inputs of a convolution that are a bias or statistics.
fn vectors(dimensions: &mut Dimensions<'_>) -> Result<Vec<usize>, Problem> {
    let fused = dimensions.call().operator == Operator::ConvBatchNormRelu;
    dimensions.at_most(if fused { 6 } else { 3 })?;
    let vectors: Vec<usize> = (2..dimensions.call().inputs.len()).collect();
    vectors
        .iter()
        .try_for_each(|vector| dimensions.shape(*vector, Some(1)).map(drop))?;
    // Weight, bias, mean and variance of the normalisation; the convolution has no bias.
    if fused && vectors.len() != 4 {
        return Err(format!("it has {} inputs, expected 6", vectors.len() + 2));
    }
    Ok(vectors)
}

/// Ties the groups and the channels of a convolution, and returns the output channels of a group.
fn tie_channels(
    dimensions: &mut Dimensions<'_>,
    weight: &[usize],
    vectors: &[usize],
    transposed: bool,
) -> Result<usize, Problem> {
    let groups = dimensions.call().attributes.groups;
    // The channels of a group on both sides.
    let [inner, out] = if transposed {
        [weight[0] / groups, weight[1]]
    } else {
        [weight[1], weight[0] / groups]
    };
    // The first dimension of a transposed weight is the input channels.
    let grouped = part_of_input(1, 0, if transposed { inner } else { out });
    let mut by_group = vec![DimensionSlot::Groups, part_of_input(0, 1, inner), grouped];
    by_group.extend(vectors.iter().map(|vector| part_of_input(*vector, 0, out)));
    dimensions.tie(groups, by_group)?;
    let [own_in, own_out] = if transposed {
        [within_groups(1, 0, groups), input(1, 1)]
    } else {
        [input(1, 1), within_groups(1, 0, groups)]
    };
    dimensions.tie(inner, vec![within_groups(0, 1, groups), own_in])?;
    let mut of_out = vec![own_out];
    of_out.extend(
        vectors
            .iter()
            .map(|vector| within_groups(*vector, 0, groups)),
    );
    dimensions.tie(out, of_out)?;
    Ok(out)
}

/// The number of windows along each dimension, at least one.
fn output(
    dimensions: &Dimensions<'_>,
    spatial: &[usize],
    kernel: &[usize],
) -> Result<Vec<usize>, Problem> {
    // `Windows` subtracts one from each length of a window.
    if kernel
        .iter()
        .any(|length| *length == 0 || *length > LARGEST)
    {
        return Err("its window has no elements".to_owned());
    }
    let output = Windows::new(spatial, kernel, &dimensions.call().attributes).output();
    if output.contains(&0) {
        Err("its window is larger than its input".to_owned())
    } else {
        Ok(output)
    }
}

/// The spatial lengths of the result of a transposed convolution.
fn spread(
    dimensions: &Dimensions<'_>,
    x: &[usize],
    weight: &[usize],
) -> Result<Vec<usize>, Problem> {
    let attributes = &dimensions.call().attributes;
    let at =
        |list: &[usize], index: usize, default: usize| list.get(index).copied().unwrap_or(default);
    (0..x.len() - 2)
        .map(|index| {
            let [stride, dilation] =
                [&attributes.stride, &attributes.dilation].map(|list| at(list, index, 1));
            // Neighbours of the input are `stride` apart, and the last one adds a whole window.
            let whole = (x[index + 2] - 1) * stride + dilation * (weight[index + 2] - 1) + 1;
            let whole = whole + at(&attributes.output_padding, index, 0);
            whole
                .checked_sub(2 * at(&attributes.padding, index, 0))
                .filter(|length| *length > 0)
        })
        .collect::<Option<Vec<usize>>>()
        .ok_or("its padding is larger than its result".to_owned())
}

/// `x` [batch, channels, ...] with windows of the attributes, or as many as their shape says.
pub(super) fn pool(dimensions: &mut Dimensions<'_>) -> Described {
    let x = dimensions.shape(0, None)?;
    dimensions.at_most(1)?;
    let rank = spatial_rank(x)?;
    are_lists(dimensions, rank)?;
    let attributes = &dimensions.call().attributes;
    let adaptive = matches!(
        dimensions.call().operator,
        Operator::AdaptiveAvgPool1d | Operator::AdaptiveAvgPool2d
    );
    let windows = if adaptive {
        &attributes.shape
    } else {
        &attributes.kernel
    };
    if windows.len() != rank || windows.contains(&0) || x.contains(&0) {
        return Err(format!(
            "it has no window of {rank} dimensions, or an input without elements"
        ));
    }
    for (index, length) in windows.iter().enumerate() {
        let slot = if adaptive {
            DimensionSlot::Shape(index)
        } else {
            DimensionSlot::Kernel(index)
        };
        dimensions.tie(*length, vec![slot])?;
    }
    x.iter()
        .enumerate()
        .try_for_each(|(dim, length)| dimensions.tie(*length, vec![input(0, dim)]))?;
    let output = if adaptive {
        adaptive_output(&x[2..], windows)?
    } else {
        padded_output(dimensions, &x[2..], windows)?
    };
    Ok(product(&[&x[..2], &output[..]].concat()))
}

/// The windows of an adaptive pool, which its shape names.
fn adaptive_output(spatial: &[usize], windows: &[usize]) -> Result<Vec<usize>, Problem> {
    // More windows than elements are not what any case has.
    let fewer = windows
        .iter()
        .zip(spatial)
        .all(|(windows, length)| windows <= length);
    if fewer {
        Ok(windows.to_vec())
    } else {
        Err("it has more windows than elements".to_owned())
    }
}

/// The windows of a pool with padding.
fn padded_output(
    dimensions: &Dimensions<'_>,
    spatial: &[usize],
    kernel: &[usize],
) -> Result<Vec<usize>, Problem> {
    let padding = dimensions.call().attributes.padding.iter();
    // PyTorch refuses more padding than half a window, which could be a window of padding alone.
    if padding
        .zip(kernel)
        .any(|(padding, window)| 2 * padding > *window)
    {
        return Err("its padding is larger than half of its window".to_owned());
    }
    output(dimensions, spatial, kernel)
}

fn part_of_input(input: usize, dim: usize, inner: usize) -> DimensionSlot {
    DimensionSlot::Input {
        input,
        dim,
        outer: 1,
        inner,
    }
}

fn within_groups(input: usize, dim: usize, groups: usize) -> DimensionSlot {
    DimensionSlot::Input {
        input,
        dim,
        outer: groups,
        inner: 1,
    }
}
