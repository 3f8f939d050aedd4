//! Operators that compute each element from those at its position.

use crate::{
    calls::{Attributes, Call, Element, HostTensor},
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
    let mut attributes = Attributes::default();
    let inputs = match sizes.operator {
        // Away from zero, at which a quotient is infinite.
        Operator::Div => {
            let divisor = sizes
                .random(1)
                .signed(sizes.sizes, sizes.element, [0.25, 2.0]);
            vec![sizes.floats(0, sizes.sizes, [-2.0, 2.0]), divisor]
        }
        // A negative base has powers for whole exponents alone.
        Operator::Pow => inputs(sizes, &[[0.1, 3.0], [-3.0, 3.0]]),
        // Both are NaN for a negative number.
        Operator::Sqrt | Operator::Log => inputs(sizes, &[[0.05, 4.0]]),
        Operator::Exp | Operator::Neg | Operator::Abs | Operator::Dropout => {
            inputs(sizes, &[[-6.0, 6.0]])
        }
        Operator::Sin | Operator::Cos => inputs(sizes, &[[-8.0, 8.0]]),
        Operator::Tanh => inputs(sizes, &[[-4.0, 4.0]]),
        Operator::Clamp => {
            attributes.limits = [-0.5, 0.75];
            inputs(sizes, &[[-2.0, 2.0]])
        }
        Operator::Where => {
            let mut random = sizes.random(2);
            let condition = random.integers(sizes.sizes, Element::Bool, [0, 1]);
            let choices = inputs(sizes, &[[-2.0, 2.0], [-2.0, 2.0]]);
            [vec![condition], choices].concat()
        }
        _ => inputs(sizes, &[[-2.0, 2.0], [-2.0, 2.0]]),
    };
    vec![Case::new(sizes.call(inputs, attributes))]
}

/// An input with numbers between each of these limits.
fn inputs(sizes: &CaseSizes<'_>, limits: &[[f64; 2]]) -> Vec<HostTensor> {
    limits
        .iter()
        .enumerate()
        .map(|(index, limits)| sizes.floats(index, sizes.sizes, *limits))
        .collect()
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
    // Operators on one number do not read `b`.
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
