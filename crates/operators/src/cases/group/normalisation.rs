//! Normalisations: by recorded statistics, or by the statistics of the elements themselves.

use crate::{
    calls::{Attributes, Call, HostTensor},
    cases::{
        arithmetic::{Arithmetic, ulps},
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, exact},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let inputs = inputs(sizes);
    if inputs.is_empty() {
        return Vec::new();
    }
    let mut attributes = Attributes {
        eps: 1e-5,
        ..Attributes::default()
    };
    if let [_, groups, _, _] = *sizes.sizes {
        attributes.groups = groups;
    }
    // If the variance is not far above eps, the result depends on eps.
    let small = with_small_variance(sizes.operator, &inputs);
    vec![
        Case::new(sizes.call(inputs, attributes.clone())),
        Case::named("a small variance", sizes.call(small, attributes)),
    ]
}

/// x, weight, bias, mean and variance, as far as the operator has them.
fn inputs(sizes: &CaseSizes<'_>) -> Vec<HostTensor> {
    let (shape, channels) = match *sizes.sizes {
        [rows, columns] => (vec![rows, columns], columns),
        [batch, channels, positions] => (vec![batch, channels, positions], channels),
        [batch, groups, width, positions] => {
            (vec![batch, groups * width, positions], groups * width)
        }
        _ => return Vec::new(),
    };
    let mut inputs = vec![
        // The mean is not 0, so that it matters whether an operator subtracts it.
        sizes.floats(0, &shape, [-1.0, 2.0]),
        sizes.floats(1, &[channels], [0.5, 1.5]),
    ];
    if sizes.operator != Operator::RmsNorm {
        inputs.push(sizes.floats(2, &[channels], [-0.5, 0.5]));
    }
    if sizes.operator == Operator::BatchNorm {
        inputs.push(sizes.floats(3, &[channels], [-0.5, 0.5]));
        inputs.push(sizes.floats(4, &[channels], [0.5, 1.5]));
    }
    inputs
}

/// The inputs with a small variance: the recorded one, or the variance of the elements.
fn with_small_variance(operator: Operator, inputs: &[HostTensor]) -> Vec<HostTensor> {
    let narrowed = if operator == Operator::BatchNorm {
        4
    } else {
        0
    };
    let mut inputs = inputs.to_vec();
    let tensor = &inputs[narrowed];
    // By a power of two, which keeps every bit of the numbers.
    let values = tensor
        .values
        .iter()
        .map(|value| value * 2_f64.powi(-8))
        .collect();
    inputs[narrowed] = HostTensor::new(tensor.shape.clone(), tensor.element, values);
    inputs
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let (Some(x), Some(weight)) = (call.tensor(0), call.tensor(1)) else {
        return Reference::computed(arithmetic, [0], Vec::new());
    };
    let numbers = match call.operator {
        Operator::BatchNorm => batch_norm(call, arithmetic, x),
        _ => normalised(call, arithmetic, x, together(call, x, weight)),
    };
    Reference::computed(arithmetic, x.shape.clone(), numbers)
}

/// The number of neighbours that are normalised together.
fn together(call: &Call, x: &HostTensor, weight: &HostTensor) -> usize {
    match call.operator {
        Operator::LayerNorm | Operator::RmsNorm => weight.len(),
        Operator::GroupNorm => x.len() / (x.shape[0] * call.attributes.groups).max(1),
        // Instance normalisation: the positions of one channel.
        _ => x.shape[2],
    }
}

/// The statistics of the norms that libraries return them of: the mean of each group of elements,
/// unless the norm is by the mean of squares, then the reciprocal of the root of each variance.
/// `None` for other operators.
pub fn norm_statistics(call: &Call, arithmetic: Arithmetic) -> Option<Reference> {
    let is_centred = match call.operator {
        Operator::LayerNorm | Operator::GroupNorm => true,
        Operator::RmsNorm => false,
        _ => return None,
    };
    let (x, weight) = (call.tensor(0)?, call.tensor(1)?);
    let numbers = exact(x);
    // `chunks` refuses a length of 0, which an empty tensor has.
    let parts = numbers.chunks(together(call, x, weight).max(1));
    let eps = call.attributes.eps;
    let groups: Vec<[BoundedNumber; 2]> = parts
        .map(|part| statistics(arithmetic, part, eps, is_centred))
        .collect();
    let means = groups.iter().filter(|_| is_centred).map(|[mean, _]| *mean);
    let all: Vec<BoundedNumber> = means
        .chain(groups.iter().map(|[_, scale]| *scale))
        .collect();
    Some(Reference::computed(arithmetic, [all.len()], all))
}

/// The mean, which is zero if it is not subtracted, and the reciprocal of the root of the variance:
/// of the mean of squares less the square of the mean. A variance of differences has smaller errors.
fn statistics(
    arithmetic: Arithmetic,
    part: &[BoundedNumber],
    eps: f64,
    is_centred: bool,
) -> [BoundedNumber; 2] {
    let count = BoundedNumber::exact(part.len() as f64);
    let squares = arithmetic.dot(part.iter().map(|number| (*number, *number)));
    let squares = arithmetic.div(squares, count);
    if !is_centred {
        let scale = reciprocal_root(arithmetic, squares, eps);
        return [BoundedNumber::exact(0.0), scale];
    }
    let mean = arithmetic.div(arithmetic.sum(part.iter().copied()), count);
    let variance = arithmetic.sub(squares, arithmetic.mul(mean, mean));
    [mean, reciprocal_root(arithmetic, variance, eps)]
}

/// The channel of element `index` of [rows, channels] or [batch, channels, positions].
fn channel(x: &HostTensor, index: usize) -> usize {
    let positions: usize = x.shape[2..].iter().product();
    index / positions.max(1) % x.shape[1]
}

fn normalised(
    call: &Call,
    arithmetic: Arithmetic,
    x: &HostTensor,
    together: usize,
) -> Vec<BoundedNumber> {
    let numbers = exact(x);
    let normal = numbers
        .chunks(together.max(1))
        .flat_map(|part| match call.operator {
            Operator::RmsNorm => by_root_mean_square(arithmetic, part, call.attributes.eps),
            _ => by_variance(arithmetic, part, call.attributes.eps),
        });
    normal
        .enumerate()
        .map(|(index, number)| scaled(call, arithmetic, channel(x, index), number))
        .collect()
}

/// The number times the weight of its channel, plus the bias if there is one.
fn scaled(
    call: &Call,
    arithmetic: Arithmetic,
    channel: usize,
    number: BoundedNumber,
) -> BoundedNumber {
    let weighted =
        parameter(1, call, channel).map_or(number, |weight| arithmetic.mul(number, weight));
    parameter(2, call, channel).map_or(weighted, |bias| arithmetic.add(weighted, bias))
}

fn by_variance(arithmetic: Arithmetic, part: &[BoundedNumber], eps: f64) -> Vec<BoundedNumber> {
    // A whole number below 2^24 is exact in f32.
    let count = BoundedNumber::exact(part.len() as f64);
    let mean = arithmetic.div(arithmetic.sum(part.iter().copied()), count);
    let centred: Vec<BoundedNumber> = part
        .iter()
        .map(|number| arithmetic.sub(*number, mean))
        .collect();
    let variance = arithmetic.div(
        arithmetic.dot(centred.iter().map(|number| (*number, *number))),
        count,
    );
    let scale = reciprocal_root(arithmetic, variance, eps);
    centred
        .into_iter()
        .map(|number| arithmetic.mul(number, scale))
        .collect()
}

fn by_root_mean_square(
    arithmetic: Arithmetic,
    part: &[BoundedNumber],
    eps: f64,
) -> Vec<BoundedNumber> {
    let squares = arithmetic.dot(part.iter().map(|number| (*number, *number)));
    let scale = reciprocal_root(
        arithmetic,
        arithmetic.div(squares, BoundedNumber::exact(part.len() as f64)),
        eps,
    );
    // transformers rounds to the type of x before it applies the weight.
    part.iter()
        .map(|number| arithmetic.stored(arithmetic.mul(*number, scale)))
        .collect()
}

/// 1 / sqrt(variance + eps).
fn reciprocal_root(arithmetic: Arithmetic, variance: BoundedNumber, eps: f64) -> BoundedNumber {
    let sum = arithmetic.add(variance, BoundedNumber::exact(eps));
    arithmetic.function(|value| 1.0 / value.sqrt(), sum, ulps::SQRT + ulps::DIV)
}

/// (x - mean) / sqrt(variance + eps) * weight + bias, which many libraries compute as x * a + b.
fn batch_norm(call: &Call, arithmetic: Arithmetic, x: &HostTensor) -> Vec<BoundedNumber> {
    let numbers = exact(x).into_iter().enumerate();
    numbers
        .map(|(index, number)| by_statistics(call, arithmetic, channel(x, index), number, 0))
        .collect()
}

/// Batch normalisation of one number; the weight is input `first` + 1, followed by bias, mean and
/// variance.
pub(super) fn by_statistics(
    call: &Call,
    arithmetic: Arithmetic,
    channel: usize,
    x: BoundedNumber,
    first: usize,
) -> BoundedNumber {
    let scale = arithmetic.mul(
        reciprocal_root(
            arithmetic,
            statistic(4, call, channel, first),
            call.attributes.eps,
        ),
        statistic(1, call, channel, first),
    );
    let centred = arithmetic.sub(x, statistic(3, call, channel, first));
    let result = arithmetic.add(
        arithmetic.mul(centred, scale),
        statistic(2, call, channel, first),
    );
    let folded = arithmetic.mul(statistic(3, call, channel, first), scale);
    // Of x * a + b, both terms are rounded before they cancel.
    BoundedNumber {
        error: result.error + folded.error + 2.0 * arithmetic.mul(x, scale).error,
        ..result
    }
}

fn parameter(index: usize, call: &Call, channel: usize) -> Option<BoundedNumber> {
    call.tensor(index)
        .map(|tensor| BoundedNumber::exact(tensor.values[channel]))
}

fn statistic(index: usize, call: &Call, channel: usize, first: usize) -> BoundedNumber {
    BoundedNumber::exact(
        call.tensor(first + index)
            .map_or(f64::NAN, |tensor| tensor.values[channel]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Element;
    use testgen_types::Precision;

    fn statistics_of(operator: Operator) -> Option<Vec<BoundedNumber>> {
        let tensor =
            |shape: &[usize], values: &[f64]| HostTensor::new(shape, Element::F32, values.to_vec());
        let inputs = vec![
            tensor(&[2, 2], &[1.0, 3.0, -2.0, 2.0]),
            tensor(&[2], &[0.5, 4.0]),
        ];
        let call = Call::new(operator, inputs, Attributes::default());
        let arithmetic = Arithmetic::for_precision(Precision::F32);
        norm_statistics(&call, arithmetic).map(|reference| reference.numbers)
    }

    #[test]
    fn statistics_are_means_and_reciprocal_deviations() {
        for (operator, expected) in [
            (Operator::LayerNorm, &[2.0, 0.0, 1.0, 0.5][..]),
            (Operator::RmsNorm, &[5.0_f64.sqrt().recip(), 0.5]),
        ] {
            let numbers = statistics_of(operator).unwrap_or_default();
            assert_eq!(numbers.len(), expected.len());
            for (number, expected) in numbers.iter().zip(expected) {
                assert!((number.value - expected).abs() < 1e-15, "{number:?}");
                assert!(number.error > 0.0 && number.error < 1e-5, "{number:?}");
            }
        }
        assert_eq!(statistics_of(Operator::BatchNorm), None);
    }
}
