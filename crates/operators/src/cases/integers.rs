//! Integers and booleans, whose results are exact.

use crate::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::{
        case::Case,
        sizes::{cases, odd_sizes},
        values::XorShift64,
    },
};
use testgen_types::{Operator, OperatorGroup};

/// Calls of `operator` on integers and booleans; empty if it has neither.
pub fn integer_cases(operator: Operator) -> Vec<Case> {
    match operator.group() {
        OperatorGroup::Elementwise | OperatorGroup::Comparison => elementwise(operator),
        // PyTorch refuses the mean of integers.
        OperatorGroup::Reduction if operator != Operator::Mean => retyped(operator, Element::I32),
        OperatorGroup::Movement | OperatorGroup::Indexing => [
            retyped(operator, Element::I32),
            retyped(operator, Element::Bool),
        ]
        .concat(),
        _ if operator == Operator::Transpose => [
            retyped(operator, Element::I32),
            retyped(operator, Element::Bool),
        ]
        .concat(),
        _ => Vec::new(),
    }
}

/// The usual cases with float inputs replaced by small integers or by booleans.
fn retyped(operator: Operator, element: Element) -> Vec<Case> {
    cases(operator, &odd_sizes(operator), Element::F32)
        .into_iter()
        .map(|case| {
            // The type of floats in these cases does not matter: they are replaced.
            let mut call = case.call;
            for (index, input) in call
                .inputs
                .iter_mut()
                .enumerate()
                .filter(|(_, input)| input.tensor.element.is_float())
            {
                let limits = match (element, operator) {
                    (Element::Bool, _) => [0, 1],
                    // A product of many stays within 32 bits.
                    (_, Operator::Prod) => [-2, 2],
                    _ => [-1000, 1000],
                };
                input.tensor = XorShift64::new("integers", index).integers(
                    &input.tensor.shape,
                    element,
                    limits,
                );
            }
            let variant = if case.variant.is_empty() {
                element.to_string()
            } else {
                format!("{}, {element}", case.variant)
            };
            Case { variant, call }
        })
        .collect()
}

/// The shape of inputs.
const SHAPE: [usize; 2] = [3, 5];

fn elementwise(operator: Operator) -> Vec<Case> {
    use Operator::*;
    // The product of two fits into 32 bits.
    let first = integers(operator, 0, [-1000, 1000]);
    let second = integers(operator, 1, [-1000, 1000]);
    let plain = Attributes::default();
    match operator {
        Add | Sub | Mul | MaxBinary | MinBinary | Maximum | Minimum => {
            vec![case(operator, vec![first, second], plain)]
        }
        // Truncated, with a divisor that is not zero.
        Div => {
            let divisor = integers(operator, 1, [1, 7]);
            vec![case(operator, vec![first, divisor], plain)]
        }
        Neg | Abs => vec![case(operator, vec![first], plain)],
        Clamp => {
            let limits = Attributes {
                limits: [-100.0, 200.0],
                ..plain
            };
            vec![case(operator, vec![first], limits)]
        }
        Where => {
            let condition = booleans(operator, 2);
            let choices = [
                condition.clone(),
                booleans(operator, 0),
                booleans(operator, 1),
            ];
            vec![
                case(operator, vec![condition, first, second], plain.clone()),
                Case::named("bool", Call::new(operator, choices.to_vec(), plain)),
            ]
        }
        Eq | Ne => {
            let inputs = [0, 1].map(|index| booleans(operator, index));
            vec![
                near(operator),
                Case::named("bool", Call::new(operator, inputs.to_vec(), plain)),
            ]
        }
        Lt | Le | Gt | Ge | Less => vec![near(operator)],
        _ => Vec::new(),
    }
}

fn case(operator: Operator, inputs: Vec<HostTensor>, attributes: Attributes) -> Case {
    Case::named("i32", Call::new(operator, inputs, attributes))
}

/// Input `index` in integers.
fn integers(operator: Operator, index: usize, limits: [i64; 2]) -> HostTensor {
    XorShift64::new(operator.as_str(), index).integers(&SHAPE, Element::I32, limits)
}

fn booleans(operator: Operator, index: usize) -> HostTensor {
    XorShift64::new(operator.as_str(), index).integers(&SHAPE, Element::Bool, [0, 1])
}

/// Integers of which many are equal.
fn near(operator: Operator) -> Case {
    let inputs = [0, 1].map(|index| integers(operator, index, [-2, 2]));
    case(operator, inputs.to_vec(), Attributes::default())
}
