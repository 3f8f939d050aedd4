//! Operators that compute each element from those at its position.

use crate::{
    calls::{Attributes, Call, HostTensor},
    cases::{
        arithmetic::{Arithmetic, ulps},
        case::{Case, CaseSizes},
        number::{BoundedNumber, minimum},
        reference::{Reference, elementwise},
    },
};
use testgen_types::Operator;

/// Two tensors of one shape, or one.
pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let inputs = |limits: &[[f64; 2]]| -> Vec<HostTensor> {
        limits
            .iter()
            .enumerate()
            .map(|(index, limits)| sizes.floats(index, sizes.sizes, *limits))
            .collect()
    };
    let plain = |inputs| sizes.call(inputs, Attributes::default());
    let calls = match sizes.operator {
        // Away from zero, at which a quotient is infinite.
        Operator::Div => {
            let divisor = sizes
                .random(1)
                .signed(sizes.sizes, sizes.element, [0.25, 2.0]);
            vec![plain(vec![
                sizes.floats(0, sizes.sizes, [-2.0, 2.0]),
                divisor,
            ])]
        }
        // A negative base has powers for whole exponents alone.
        Operator::Pow => vec![plain(inputs(&[[0.1, 3.0], [-3.0, 3.0]]))],
        // Both are NaN for a negative number.
        Operator::Sqrt | Operator::Log => vec![plain(inputs(&[[0.05, 4.0]]))],
        Operator::Exp | Operator::Neg | Operator::Abs | Operator::Dropout => {
            vec![plain(inputs(&[[-6.0, 6.0]]))]
        }
        Operator::Sin | Operator::Cos => vec![plain(inputs(&[[-8.0, 8.0]]))],
        Operator::Tanh => vec![plain(inputs(&[[-4.0, 4.0]]))],
        Operator::Clamp => {
            let limits = Attributes {
                limits: [-0.5, 0.75],
                ..Attributes::default()
            };
            vec![sizes.call(inputs(&[[-2.0, 2.0]]), limits)]
        }
        Operator::Where => {
            let condition =
                sizes
                    .random(2)
                    .integers(sizes.sizes, crate::calls::Element::Bool, [0, 1]);
            let [a, b] = [0, 1].map(|index| sizes.floats(index, sizes.sizes, [-2.0, 2.0]));
            vec![plain(vec![condition, a, b])]
        }
        _ => vec![plain(inputs(&[[-2.0, 2.0], [-2.0, 2.0]]))],
    };
    calls.into_iter().map(Case::new).collect()
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let (shape, numbers) = elementwise(call, |row| compute(call, arithmetic, row));
    let element = match call.operator {
        // The condition has a different type.
        Operator::Where => call.tensor(1),
        _ => call.tensor(0),
    };
    let moved = matches!(
        call.operator,
        Operator::Where | Operator::Neg | Operator::Abs | Operator::Dropout
    );
    let reference = match element {
        Some(tensor) if moved => Reference {
            element: tensor.element,
            ..Reference::computed(arithmetic, shape, numbers)
        },
        _ => Reference::computed(arithmetic, shape, numbers),
    };
    // Only where IEEE 754 defines the sign: it leaves open which zero is the larger, for instance.
    match call.operator {
        Operator::Add
        | Operator::Sub
        | Operator::Mul
        | Operator::Div
        | Operator::Neg
        | Operator::Abs
        | Operator::Sqrt
        | Operator::Where
        | Operator::Dropout => reference.with_signed_zeros(),
        _ => reference,
    }
}

fn compute(call: &Call, arithmetic: Arithmetic, row: &[f64]) -> BoundedNumber {
    let [a, b] =
        [0, 1].map(|index| BoundedNumber::exact(row.get(index).copied().unwrap_or(f64::NAN)));
    match call.operator {
        Operator::Add => arithmetic.add(a, b),
        Operator::Sub => arithmetic.sub(a, b),
        Operator::Mul => arithmetic.mul(a, b),
        Operator::Div if arithmetic.element().is_float() => arithmetic.div(a, b),
        // Of integers towards zero, as burn and C divide.
        Operator::Div => BoundedNumber::exact((a.value / b.value).trunc()),
        Operator::Pow => arithmetic.function(|a| a.powf(b.value), a, ulps::POW),
        Operator::MaxBinary | Operator::Maximum => a.maximum(b),
        Operator::MinBinary | Operator::Minimum => BoundedNumber::exact(minimum(a.value, b.value)),
        Operator::Neg => a.negated(),
        Operator::Abs => BoundedNumber::exact(a.value.abs()),
        Operator::Sqrt => arithmetic.sqrt(a),
        Operator::Exp => arithmetic.exp(a),
        Operator::Log => arithmetic.log(a),
        Operator::Sin => arithmetic.function(f64::sin, a, ulps::SIN),
        Operator::Cos => arithmetic.function(f64::cos, a, ulps::SIN),
        Operator::Tanh => arithmetic.function(f64::tanh, a, ulps::TANH),
        // The limits are rounded to the type of the tensor, as the device's scalars are.
        Operator::Clamp => a.clamped(
            call.attributes
                .limits
                .map(|limit| arithmetic.element().round(limit)),
        ),
        Operator::Where => BoundedNumber::exact(if row[0] != 0.0 { row[1] } else { row[2] }),
        // The identity in evaluation.
        _ => a,
    }
}
