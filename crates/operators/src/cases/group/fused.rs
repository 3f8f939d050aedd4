//! Patterns that engines fuse into one kernel.

use super::{
    activation::{activated, gelu},
    convolution::convolved,
    matrix::product,
    normalisation::by_statistics,
};
use crate::{
    calls::{Attributes, Call},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, elementwise},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match *sizes.sizes {
        [rows, inner, columns] => {
            let inputs = vec![
                sizes.factors(0, &[rows, inner]),
                sizes.factors(1, &[inner, columns]),
                sizes.factors(2, &[columns]),
            ];
            vec![Case::new(sizes.call(inputs, Attributes::default()))]
        }
        [batch, inner, out, height, width, kernel] => {
            let x = sizes.factors(0, &[batch, inner, height, width]);
            let weight = sizes.factors(1, &[out, inner, kernel, kernel]);
            // A variance not far above eps, so that the result depends on it.
            let statistics = [[0.5, 1.5], [-0.5, 0.5], [-0.5, 0.5], [1e-3, 2e-3]];
            let statistics = (2..)
                .zip(statistics)
                .map(|(index, limits)| sizes.floats(index, &[out], limits));
            let attributes = Attributes {
                groups: 1,
                padding: vec![1, 1],
                eps: 1e-5,
                ..Attributes::default()
            };
            vec![Case::new(sizes.call(
                [x, weight].into_iter().chain(statistics).collect(),
                attributes,
            ))]
        }
        _ => {
            let count = if sizes.operator == Operator::MulAdd {
                3
            } else {
                2
            };
            vec![Case::new(
                sizes.call(
                    (0..count)
                        .map(|index| sizes.factors(index, sizes.sizes))
                        .collect(),
                    Attributes::default(),
                ),
            )]
        }
    }
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let relu = |number: BoundedNumber| activated(arithmetic, Operator::Relu, false, number);
    match (call.operator, call.tensor(0), call.tensor(1)) {
        (Operator::MatmulBiasRelu | Operator::MatmulBiasGelu, Some(left), Some(right)) => {
            let (shape, numbers) = product(arithmetic, left, right);
            // Unfused, the product is rounded to the type of results before the bias is added, and
            // the sum before the activation.
            let numbers = numbers
                .into_iter()
                .map(|number| arithmetic.stored(number))
                .collect();
            let numbers =
                of_columns(call, arithmetic, numbers)
                    .into_iter()
                    .map(|number| match call.operator {
                        Operator::MatmulBiasRelu => relu(number),
                        _ => gelu(arithmetic, number),
                    });
            Reference::computed(arithmetic, shape, numbers.collect())
        }
        (Operator::ConvBatchNormRelu, Some(x), Some(weight)) => {
            let (shape, numbers) = convolved(arithmetic, x, weight, &call.attributes);
            let numbers = normalised(call, arithmetic, &shape, numbers)
                .map(relu)
                .collect();
            Reference::computed(arithmetic, shape, numbers)
        }
        (Operator::AddRelu, ..) => {
            let (shape, numbers) = elementwise(call, |row: &[f64]| {
                relu(arithmetic.add(BoundedNumber::exact(row[0]), BoundedNumber::exact(row[1])))
            });
            Reference::computed(arithmetic, shape, numbers)
        }
        _ => {
            let (shape, numbers) = elementwise(call, |row: &[f64]| {
                let [a, b, c] = [row[0], row[1], row[2]].map(BoundedNumber::exact);
                // Unfused, the product is rounded to the type; the bound permits both.
                arithmetic.add(arithmetic.stored(arithmetic.mul(a, b)), c)
            });
            Reference::computed(arithmetic, shape, numbers)
        }
    }
}

/// The sums of a convolution of this shape after a batch normalisation; both are rounded to the
/// type of results.
fn normalised(
    call: &Call,
    arithmetic: Arithmetic,
    shape: &[usize],
    numbers: Vec<BoundedNumber>,
) -> impl Iterator<Item = BoundedNumber> {
    let positions: usize = shape[2..].iter().product();
    let channels = shape[1];
    numbers.into_iter().enumerate().map(move |(index, number)| {
        let channel = index / positions % channels;
        let x = arithmetic.stored(number);
        arithmetic.stored(by_statistics(call, arithmetic, channel, x, 1))
    })
}

/// The products plus the bias of their column.
fn of_columns(
    call: &Call,
    arithmetic: Arithmetic,
    numbers: Vec<BoundedNumber>,
) -> Vec<BoundedNumber> {
    let Some(bias) = call.tensor(2) else {
        return numbers;
    };
    numbers
        .into_iter()
        .enumerate()
        .map(|(index, number)| {
            let bias = BoundedNumber::exact(bias.values[index % bias.len()]);
            arithmetic.stored(arithmetic.add(number, bias))
        })
        .collect()
}
