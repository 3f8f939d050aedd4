//! Convolutions, and the transposed one.

use super::window::{Windows, positions};
use crate::{
    calls::{Attributes, Call, HostTensor},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, exact},
    },
};
use testgen_types::Operator;

/// A plain convolution; one with stride, padding and dilation; one in groups; one channel for each
/// group.
pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let &[_, inner, out, ref spatial @ .., _] = sizes.sizes else {
        return Vec::new();
    };
    let rank = spatial.len();
    let transposed = sizes.operator == Operator::ConvTranspose2d;
    let plain = Attributes {
        groups: 1,
        ..Attributes::default()
    };
    let strided = Attributes {
        stride: vec![2; rank],
        padding: vec![1; rank],
        dilation: vec![2; rank],
        // Smaller than the stride, as PyTorch requires.
        output_padding: if transposed {
            vec![1; rank]
        } else {
            Vec::new()
        },
        ..plain.clone()
    };
    let grouped = Attributes {
        groups: 2,
        padding: vec![1; rank],
        ..plain.clone()
    };
    let depthwise = Attributes {
        groups: inner,
        ..grouped.clone()
    };
    [
        ("plain", [inner, out], plain),
        ("stride 2, padding 1, dilation 2", [inner, out], strided),
        // Twice the channels, because an odd number cannot be in two groups.
        ("2 groups", [2 * inner, 2 * out], grouped),
        ("depthwise", [inner, inner], depthwise),
    ]
    .into_iter()
    .filter_map(|(variant, channels, attributes)| {
        Some(Case::named(variant, call(sizes, channels, attributes)?))
    })
    .collect()
}

/// A convolution from and to these numbers of channels.
fn call(sizes: &CaseSizes<'_>, [inner, out]: [usize; 2], attributes: Attributes) -> Option<Call> {
    let &[batch, _, _, ref spatial @ .., kernel] = sizes.sizes else {
        return None;
    };
    let channels = if sizes.operator == Operator::ConvTranspose2d {
        [inner, out / attributes.groups]
    } else {
        [out, inner / attributes.groups]
    };
    let window = vec![kernel; spatial.len()];
    let x = sizes.factors(0, &[&[batch, inner], spatial].concat());
    let weight = sizes.factors(1, &[&channels[..], &window].concat());
    let bias = sizes.factors(2, &[out]);
    Some(sizes.call(vec![x, weight, bias], attributes))
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let (Some(x), Some(weight)) = (call.tensor(0), call.tensor(1)) else {
        return Reference::computed(arithmetic, [0], Vec::new());
    };
    let (shape, numbers) = match call.operator {
        Operator::ConvTranspose2d => transposed(arithmetic, x, weight, &call.attributes),
        _ => convolved(arithmetic, x, weight, &call.attributes),
    };
    let numbers = biased(arithmetic, &shape, numbers, call.tensor(2));
    Reference::summed(arithmetic, shape, numbers)
}

/// Adds a bias to each channel of [batch, channels, ...].
fn biased(
    arithmetic: Arithmetic,
    shape: &[usize],
    numbers: Vec<BoundedNumber>,
    bias: Option<&HostTensor>,
) -> Vec<BoundedNumber> {
    let Some(bias) = bias else { return numbers };
    let positions: usize = shape[2..].iter().product();
    numbers
        .into_iter()
        .enumerate()
        .map(|(index, number)| {
            let channel = index / positions.max(1) % shape[1];
            // The product may be stored before the bias is added, as PyTorch does on GPUs.
            arithmetic.add(
                arithmetic.stored(number),
                BoundedNumber::exact(bias.values[channel]),
            )
        })
        .collect()
}

/// `x` [batch, in, ...] and `weight` [out, in / groups, ...].
pub(super) fn convolved(
    arithmetic: Arithmetic,
    x: &HostTensor,
    weight: &HostTensor,
    attributes: &Attributes,
) -> (Vec<usize>, Vec<BoundedNumber>) {
    let (batch, inner, spatial) = (x.shape[0], x.shape[1], &x.shape[2..]);
    let (out, part, kernel) = (weight.shape[0], weight.shape[1], &weight.shape[2..]);
    let [plane, taps] = [spatial, kernel].map(|shape| shape.iter().product::<usize>());
    let windows = Windows::new(spatial, kernel, attributes);
    let output = windows.output();
    let seen: Vec<Vec<Option<usize>>> = positions(&output)
        .iter()
        .map(|place| windows.elements(place))
        .collect();
    let (a, b) = (exact(x), exact(weight));
    let mut numbers = Vec::with_capacity(batch * out * seen.len());
    for (row, channel) in (0..batch).flat_map(|row| (0..out).map(move |channel| (row, channel))) {
        let group = channel / (out / attributes.groups);
        for elements in &seen {
            let factors = (0..part).flat_map(|index| {
                let from = (row * inner + group * part + index) * plane;
                let by = (channel * part + index) * taps;
                let (a, b) = (&a, &b);
                elements
                    .iter()
                    .enumerate()
                    .filter_map(move |(tap, place)| Some((a[from + (*place)?], b[by + tap])))
            });
            numbers.push(arithmetic.dot(factors));
        }
    }
    ([&[batch, out], &output[..]].concat(), numbers)
}

/// `x` [batch, in, height, width] and `weight` [in, out / groups, height, width]: each element of x
/// adds the weight, multiplied by it, to a window of the result.
fn transposed(
    arithmetic: Arithmetic,
    x: &HostTensor,
    weight: &HostTensor,
    attributes: &Attributes,
) -> (Vec<usize>, Vec<BoundedNumber>) {
    let (batch, inner, spatial) = (x.shape[0], x.shape[1], &x.shape[2..]);
    let (part, kernel) = (weight.shape[1], &weight.shape[2..]);
    let (groups, taps) = (attributes.groups, kernel.iter().product::<usize>());
    let output = transposed_output(spatial, kernel, attributes);
    // The windows of the result, which x has one element for.
    let windows = Windows::new(&output, kernel, attributes);
    let [plane, area] = [spatial, &output].map(|shape| shape.iter().product::<usize>());
    // Collected before they are added, because the bound of a sum depends on all of its terms.
    let mut terms: Vec<Vec<(BoundedNumber, BoundedNumber)>> =
        vec![Vec::new(); batch * groups * part * area];
    let (a, b) = (exact(x), exact(weight));
    for (place, window) in positions(spatial).iter().enumerate() {
        let elements = windows.elements(window);
        for (row, channel) in
            (0..batch).flat_map(|row| (0..inner).map(move |channel| (row, channel)))
        {
            let group = channel / (inner / groups);
            for (tap, target) in elements
                .iter()
                .enumerate()
                .filter_map(|(tap, target)| Some((tap, (*target)?)))
            {
                for out in 0..part {
                    let index = ((row * groups + group) * part + out) * area + target;
                    terms[index].push((
                        a[(row * inner + channel) * plane + place],
                        b[(channel * part + out) * taps + tap],
                    ));
                }
            }
        }
    }
    let numbers = terms
        .into_iter()
        .map(|terms| arithmetic.dot(terms))
        .collect();
    ([&[batch, groups * part], &output[..]].concat(), numbers)
}

/// The spatial lengths of the result of a transposed convolution.
fn transposed_output(spatial: &[usize], kernel: &[usize], attributes: &Attributes) -> Vec<usize> {
    (0..spatial.len())
        .map(|dimension| {
            let [stride, dilation] =
                [&attributes.stride, &attributes.dilation].map(|given| at_or(given, dimension, 1));
            let whole = (spatial[dimension] - 1) * stride + dilation * (kernel[dimension] - 1) + 1;
            whole + at_or(&attributes.output_padding, dimension, 0)
                - 2 * at_or(&attributes.padding, dimension, 0)
        })
        .collect()
}

fn at_or(given: &[usize], dimension: usize, default: usize) -> usize {
    given.get(dimension).copied().unwrap_or(default)
}
