//! Losses: a number for each element or row, and their mean or sum.

use super::activation::log_softmax;
use crate::{
    calls::{Attributes, Call, Element, HostTensor, Reduction},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::{BoundedNumber, maximum},
        reference::{Reference, elementwise, exact},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let [rows, columns] = *sizes.sizes else {
        return Vec::new();
    };
    let numbers = |index, limits| sizes.floats(index, &[rows, columns], limits);
    let inputs = match sizes.operator {
        // Away from 0 and 1, near which PyTorch limits the logarithms.
        Operator::BceLoss => vec![numbers(0, [0.05, 0.95]), numbers(1, [0.0, 1.0])],
        Operator::BceWithLogitsLoss => vec![numbers(0, [-6.0, 6.0]), numbers(1, [0.0, 1.0])],
        // Logarithms of probabilities, as PyTorch's function takes them.
        Operator::KlDivLoss => vec![numbers(0, [-4.0, -0.1]), numbers(1, [0.05, 0.95])],
        Operator::CrossEntropyLoss | Operator::NllLoss => {
            // Logarithms of probabilities, or scores.
            let limits = if sizes.operator == Operator::NllLoss {
                [-4.0, -0.1]
            } else {
                [-5.0, 5.0]
            };
            let classes = sizes.random(1).integers(
                &[rows],
                Element::I32,
                [0, columns.saturating_sub(1) as i64],
            );
            vec![numbers(0, limits), classes]
        }
        _ => vec![numbers(0, [-2.0, 2.0]), numbers(1, [-2.0, 2.0])],
    };
    [
        ("mean", Reduction::Mean),
        ("sum", Reduction::Sum),
        ("none", Reduction::None),
    ]
    .map(|(name, reduction)| {
        let attributes = Attributes {
            reduction,
            ..Attributes::default()
        };
        Case::named(name, sizes.call(inputs.clone(), attributes))
    })
    .to_vec()
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let (shape, losses) = match (call.operator, call.tensor(0), call.tensor(1)) {
        (Operator::CrossEntropyLoss | Operator::NllLoss, Some(x), Some(classes)) => (
            classes.shape.clone(),
            of_classes(call.operator, arithmetic, x, classes),
        ),
        _ => elementwise(call, |row| {
            loss(
                call.operator,
                arithmetic,
                [row[0], row[1]].map(BoundedNumber::exact),
            )
        }),
    };
    let count = losses.len() as f64;
    match call.attributes.reduction {
        Reduction::None => Reference::computed(arithmetic, shape, losses),
        Reduction::Sum => Reference::computed(arithmetic, [], vec![arithmetic.sum(losses)]),
        Reduction::Mean => {
            let mean = arithmetic.div(arithmetic.sum(losses), BoundedNumber::exact(count));
            Reference::computed(arithmetic, [], vec![mean])
        }
    }
}

/// The loss of each row of `x` [rows, classes].
fn of_classes(
    operator: Operator,
    arithmetic: Arithmetic,
    x: &HostTensor,
    classes: &HostTensor,
) -> Vec<BoundedNumber> {
    let (numbers, width) = (exact(x), x.shape[1]);
    let rows = numbers.chunks(width.max(1)).zip(&classes.values);
    rows.map(|(row, class)| match operator {
        Operator::NllLoss => row[*class as usize].negated(),
        _ => log_softmax(arithmetic, row)[*class as usize].negated(),
    })
    .collect()
}

/// The loss of one element: of a prediction and a target.
fn loss(operator: Operator, arithmetic: Arithmetic, [a, b]: [BoundedNumber; 2]) -> BoundedNumber {
    let one = BoundedNumber::exact(1.0);
    let difference = arithmetic.sub(a, b);
    match operator {
        Operator::MseLoss => arithmetic.mul(difference, difference),
        Operator::L1Loss => absolute(difference),
        Operator::SmoothL1Loss => smooth(arithmetic, absolute(difference)),
        Operator::BceLoss => {
            let other = arithmetic.mul(
                arithmetic.sub(one, b),
                limited_log(arithmetic.sub(one, a), arithmetic),
            );
            arithmetic
                .add(arithmetic.mul(b, limited_log(a, arithmetic)), other)
                .negated()
        }
        Operator::BceWithLogitsLoss => {
            // (1 - b) a + log(1 + exp(-a)), with exponents that cannot overflow.
            let tail = arithmetic.log(arithmetic.add(one, arithmetic.exp(absolute(a).negated())));
            let tail = arithmetic.add(tail, a.negated().maximum(BoundedNumber::exact(0.0)));
            arithmetic.add(arithmetic.mul(arithmetic.sub(one, b), a), tail)
        }
        // `kl_div_loss`: b (log b - a), and 0 where b is 0.
        _ if b.value == 0.0 => BoundedNumber::exact(if a.value.is_nan() { f64::NAN } else { 0.0 }),
        _ => arithmetic.mul(b, arithmetic.sub(arithmetic.log(b), a)),
    }
}

fn absolute(number: BoundedNumber) -> BoundedNumber {
    BoundedNumber {
        value: number.value.abs(),
        ..number
    }
}

/// Half the square below 1, a line above.
fn smooth(arithmetic: Arithmetic, distance: BoundedNumber) -> BoundedNumber {
    let half = BoundedNumber::exact(0.5);
    if maximum(distance.value, 1.0) == 1.0 {
        arithmetic.mul(half, arithmetic.mul(distance, distance))
    } else {
        arithmetic.sub(distance, half)
    }
}

fn limited_log(number: BoundedNumber, arithmetic: Arithmetic) -> BoundedNumber {
    // PyTorch limits the logarithm to -100.
    arithmetic.log(number).maximum(BoundedNumber::exact(-100.0))
}
