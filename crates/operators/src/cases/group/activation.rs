//! Activations and softmaxes.

use crate::{
    calls::{Attributes, Call},
    cases::{
        arithmetic::{Arithmetic, ulps},
        case::{Case, CaseSizes},
        number::{BoundedNumber, maximum},
        reference::{Reference, elementwise, exact, lines},
    },
};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let limits = match sizes.operator {
        // Beyond both ends.
        Operator::Relu6 => [-9.0, 9.0],
        _ => [-6.0, 6.0],
    };
    let x = sizes.floats(0, sizes.sizes, limits);
    let tanh = Attributes {
        tanh: true,
        ..Attributes::default()
    };
    let variants = match sizes.operator {
        Operator::Gelu => vec![
            ("erf".to_owned(), Attributes::default()),
            ("tanh".to_owned(), tanh),
        ],
        Operator::Softmax | Operator::LogSoftmax => [1, 0]
            .map(|dim| (format!("dim {dim}"), Attributes::of_dim(dim)))
            .to_vec(),
        _ => vec![(String::new(), Attributes::default())],
    };
    variants
        .into_iter()
        .map(|(variant, attributes)| Case::named(variant, sizes.call(vec![x.clone()], attributes)))
        .collect()
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    match call.operator {
        Operator::Softmax | Operator::LogSoftmax => softmax_reference(call, arithmetic),
        operator => {
            let (shape, numbers) = elementwise(call, |row: &[f64]| {
                activated(
                    arithmetic,
                    operator,
                    call.attributes.tanh,
                    BoundedNumber::exact(row[0]),
                )
            });
            Reference::computed(arithmetic, shape, numbers)
        }
    }
}

/// `relu`, `relu6`, `sigmoid`, `silu` or, for any other operator, `gelu` of one number; `tanh`
/// selects the form of `gelu`.
pub fn activated(
    arithmetic: Arithmetic,
    operator: Operator,
    tanh: bool,
    a: BoundedNumber,
) -> BoundedNumber {
    match operator {
        Operator::Relu => a.maximum(BoundedNumber::exact(0.0)),
        Operator::Relu6 => a.clamped([0.0, 6.0]),
        Operator::Sigmoid => sigmoid(arithmetic, a),
        Operator::Silu => arithmetic.mul(a, sigmoid(arithmetic, a)),
        _ if tanh => gelu_tanh(arithmetic, a),
        _ => gelu(arithmetic, a),
    }
}

/// 1 / (1 + exp(-a)).
fn sigmoid(arithmetic: Arithmetic, a: BoundedNumber) -> BoundedNumber {
    let one = BoundedNumber::exact(1.0);
    let sigmoid = arithmetic.div(one, arithmetic.add(one, arithmetic.exp(a.negated())));
    // exp(-log(1 + exp(-a))) is as common; its exponent is rounded.
    arithmetic.function(
        |x| x,
        sigmoid,
        ulps::EXP
            + if a.value.is_finite() {
                a.value.abs().max(1.0)
            } else {
                0.0
            },
    )
}

/// a / 2 * (1 + erf(a / sqrt(2))).
pub(super) fn gelu(arithmetic: Arithmetic, a: BoundedNumber) -> BoundedNumber {
    let erf = arithmetic.function(
        libm::erf,
        arithmetic.mul(a, BoundedNumber::exact(FRAC_1_SQRT_2)),
        ulps::ERF,
    );
    halved_product(arithmetic, a, erf)
}

/// a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3))).
fn gelu_tanh(arithmetic: Arithmetic, a: BoundedNumber) -> BoundedNumber {
    let cube = arithmetic.mul(arithmetic.mul(a, a), a);
    let inner = arithmetic.add(a, arithmetic.mul(cube, BoundedNumber::exact(0.044_715)));
    let inner = arithmetic.mul(inner, BoundedNumber::exact((2.0 / PI).sqrt()));
    halved_product(
        arithmetic,
        a,
        arithmetic.function(f64::tanh, inner, ulps::TANH),
    )
}

/// a / 2 * (1 + b).
fn halved_product(arithmetic: Arithmetic, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
    let half = arithmetic.mul(a, BoundedNumber::exact(0.5));
    arithmetic.mul(half, arithmetic.add(BoundedNumber::exact(1.0), b))
}

fn softmax_reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let Some(x) = call.tensor(0) else {
        return Reference::computed(arithmetic, [0], Vec::new());
    };
    let mut numbers = exact(x);
    for line in lines(&x.shape, call.attributes.dim.unwrap_or(0)) {
        let scores: Vec<BoundedNumber> = line.iter().map(|index| numbers[*index]).collect();
        let results = match call.operator {
            Operator::LogSoftmax => log_softmax(arithmetic, &scores),
            _ => softmax(arithmetic, &scores),
        };
        line.into_iter()
            .zip(results)
            .for_each(|(index, number)| numbers[index] = number);
    }
    Reference::computed(arithmetic, x.shape.clone(), numbers)
}

/// The softmax of a line.
pub(super) fn softmax(arithmetic: Arithmetic, scores: &[BoundedNumber]) -> Vec<BoundedNumber> {
    let powers: Vec<BoundedNumber> = shifted(arithmetic, scores)
        .into_iter()
        .map(|score| arithmetic.exp(score))
        .collect();
    let sum = arithmetic.sum(powers.iter().copied());
    powers
        .into_iter()
        .map(|power| arithmetic.div(power, sum))
        .collect()
}

/// The logarithm of the softmax of a line.
pub(super) fn log_softmax(arithmetic: Arithmetic, scores: &[BoundedNumber]) -> Vec<BoundedNumber> {
    let shifted = shifted(arithmetic, scores);
    let sum = arithmetic.log(arithmetic.sum(shifted.iter().map(|score| arithmetic.exp(*score))));
    shifted
        .into_iter()
        .map(|score| arithmetic.sub(score, sum))
        .collect()
}

/// Scores minus the largest one; NaN all over where that is infinite and subtracted from itself.
fn shifted(arithmetic: Arithmetic, scores: &[BoundedNumber]) -> Vec<BoundedNumber> {
    let largest = scores
        .iter()
        .map(|score| score.value)
        .fold(f64::NEG_INFINITY, maximum);
    scores
        .iter()
        // A softmax is the same for every shift, so the largest score needs no bound.
        .map(|score| arithmetic.sub(*score, BoundedNumber::exact(largest)))
        .collect()
}
