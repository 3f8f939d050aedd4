//! Attention, rotary positions, and weighted sums of rows.

use super::activation::softmax;
use crate::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, exact},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match (sizes.operator, sizes.sizes) {
        (Operator::Rope, [batch, heads, seq, width]) => {
            let x = sizes.floats(0, &[*batch, *heads, *seq, *width], [-2.0, 2.0]);
            let [cos, sin] = rotations(*seq, *width, sizes.element);
            vec![Case::new(Call::new(
                sizes.operator,
                vec![x, cos, sin],
                Attributes::default(),
            ))]
        }
        (Operator::ScaledDotProductAttention, [batch, heads, queries, keys, width]) => {
            attention_cases(sizes, [*batch, *heads, *queries, *keys, *width])
        }
        (_, [rows, columns]) => {
            let weights = sizes.floats(0, &[*rows], [-1.0, 1.0]);
            let x = sizes.floats(1, &[*rows, *columns], [-1.0, 1.0]);
            vec![Case::new(Call::new(
                sizes.operator,
                vec![weights, x],
                Attributes::default(),
            ))]
        }
        _ => Vec::new(),
    }
}

/// Cosines and sines [1, 1, seq, width] of positions times the usual frequencies, each for both
/// halves of a head.
fn rotations(seq: usize, width: usize, element: Element) -> [HostTensor; 2] {
    let angles: Vec<f64> = (0..seq * width)
        .map(|index| {
            // The second half of a row repeats the angles of the first one, as transformers makes
            // them.
            let (position, pair) = (index / width, index % width % (width / 2).max(1));
            position as f64 * 10_000_f64.powf(-2.0 * pair as f64 / width as f64)
        })
        .collect();
    [f64::cos as fn(f64) -> f64, f64::sin].map(|value_at| {
        let values = angles.iter().copied().map(value_at);
        HostTensor::new([1, 1, seq, width], element, values.collect())
    })
}

fn attention_cases(
    sizes: &CaseSizes<'_>,
    [batch, heads, queries, keys, width]: [usize; 5],
) -> Vec<Case> {
    let numbers = |index, heads, seq| sizes.floats(index, &[batch, heads, seq, width], [-2.0, 2.0]);
    let inputs = |heads_of_keys| {
        let [k, v] = [1, 2].map(|index| numbers(index, heads_of_keys, keys));
        vec![numbers(0, heads, queries), k, v]
    };
    let plain = Attributes::default();
    let mut mask = sizes
        .random(3)
        .integers(&[batch, 1, queries, keys], Element::Bool, [0, 1]);
    // A query without any key has no defined result.
    mask.values
        .iter_mut()
        .step_by(keys)
        .for_each(|first| *first = 1.0);
    vec![
        Case::named("plain", sizes.call(inputs(heads), plain.clone())),
        Case::named(
            "causal",
            sizes.call(
                inputs(heads),
                Attributes {
                    causal: true,
                    ..plain.clone()
                },
            ),
        ),
        Case::named(
            "masked",
            sizes.call([inputs(heads), vec![mask]].concat(), plain.clone()),
        ),
        Case::named("grouped heads", sizes.call(inputs(1), plain)),
    ]
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match (
        call.operator,
        call.tensor(0),
        call.tensor(1),
        call.tensor(2),
    ) {
        (Operator::Rope, Some(x), Some(cos), Some(sin)) => rotated(arithmetic, x, cos, sin),
        (Operator::ScaledDotProductAttention, Some(q), Some(k), Some(v)) => {
            attended(call, arithmetic, [q, k, v])
        }
        (_, Some(weights), Some(x), _) => {
            let (weights, numbers, columns) = (exact(weights), exact(x), x.shape[1]);
            Reference::summed(
                arithmetic,
                [columns],
                (0..columns)
                    .map(|column| {
                        arithmetic.dot(
                            weights
                                .iter()
                                .enumerate()
                                .map(|(row, weight)| (*weight, numbers[row * columns + column])),
                        )
                    })
                    .collect(),
            )
        }
        _ => Reference::computed(arithmetic, [0], Vec::new()),
    }
}

/// x cos + rotate_half(x) sin.
fn rotated(
    arithmetic: Arithmetic,
    x: &HostTensor,
    cos: &HostTensor,
    sin: &HostTensor,
) -> Reference {
    let width = x.shape[3];
    let [cos, sin] = [cos, sin].map(|table| table.expanded(&x.shape).values);
    Reference::computed(
        arithmetic,
        x.shape.clone(),
        (0..x.len())
            .map(|index| {
                let (start, place) = (index / width * width, index % width);
                let half = width / 2;
                // In 16 bits both products and their sum are rounded to the type, as in
                // transformers.
                let turned = if place < half {
                    -x.values[start + place + half]
                } else {
                    x.values[start + place - half]
                };
                arithmetic.add(
                    exact_product(x.values[index], cos[index], arithmetic),
                    exact_product(turned, sin[index], arithmetic),
                )
            })
            .collect(),
    )
}

/// softmax(q k^T / sqrt(width)) v.
fn attended(call: &Call, arithmetic: Arithmetic, [q, k, v]: [&HostTensor; 3]) -> Reference {
    let (batch, heads, queries, width) = (q.shape[0], q.shape[1], q.shape[2], q.shape[3]);
    let (groups, keys) = (k.shape[1], k.shape[2]);
    let mask = call
        .tensor(3)
        .map(|mask| mask.expanded(&[batch, heads, queries, keys]));
    // The scores and the weights are rounded to the type of results, as unfused attention does.
    let scale = BoundedNumber::exact(1.0 / (width as f64).sqrt());
    let (a, b, c) = (exact(q), exact(k), exact(v));
    let mut numbers = Vec::with_capacity(q.len());
    for row in 0..batch * heads * queries {
        let (head, query) = (row / queries, row % queries);
        // Neighbouring heads share keys and values.
        let first = (head / heads * groups + head % heads / (heads / groups)) * keys;
        let seen: Vec<usize> = (0..keys)
            .filter(|key| !call.attributes.causal || *key <= query)
            .filter(|key| {
                mask.as_ref()
                    .is_none_or(|mask| mask.values[row * keys + key] != 0.0)
            })
            .collect();
        let scores: Vec<BoundedNumber> = seen
            .iter()
            .map(|key| {
                let start = (first + key) * width;
                let product = arithmetic
                    .dot((0..width).map(|index| (a[row * width + index], b[start + index])));
                arithmetic.mul(arithmetic.stored(product), scale)
            })
            .collect();
        let weights: Vec<BoundedNumber> = softmax(arithmetic, &scores)
            .into_iter()
            .map(|it| arithmetic.stored(it))
            .collect();
        numbers.extend((0..width).map(|index| {
            arithmetic.dot(
                weights
                    .iter()
                    .zip(&seen)
                    .map(|(weight, key)| (*weight, c[(first + key) * width + index])),
            )
        }));
    }
    Reference::computed(arithmetic, q.shape.clone(), numbers)
}

fn exact_product(a: f64, b: f64, arithmetic: Arithmetic) -> BoundedNumber {
    arithmetic.stored(arithmetic.mul(BoundedNumber::exact(a), BoundedNumber::exact(b)))
}
