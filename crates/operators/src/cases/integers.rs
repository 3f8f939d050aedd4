//! Integers and booleans, whose results are exact.

use crate::{
    calls::{Attributes, Call, Element},
    cases::{
        case::{Case, CaseSizes},
        sizes::{cases, odd_sizes},
        values::XorShift64,
    },
};
use testgen_types::{Operator, OperatorGroup};

/// Calls of `operator` on integers and booleans; empty if it has neither.
pub fn integer_cases(operator: Operator) -> Vec<Case> {
    match operator.group() {
        OperatorGroup::Elementwise | OperatorGroup::Comparison => elementwise(operator),
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

fn elementwise(operator: Operator) -> Vec<Case> {
    use Operator::*;
    let shape = [3, 5];
    let integers = |element, index, limits| {
        XorShift64::new(operator.as_str(), index).integers(&shape, element, limits)
    };
    let case = |inputs, attributes| Case::named("i32", Call::new(operator, inputs, attributes));
    let ints = |index| integers(Element::I32, index, [-1000, 1000]);
    let plain = Attributes::default();
    match operator {
        Add | Sub | Mul | MaxBinary | MinBinary | Maximum | Minimum => {
            vec![case(vec![ints(0), ints(1)], plain)]
        }
        // Truncated, with a divisor that is not zero.
        Div => vec![case(
            vec![ints(0), integers(Element::I32, 1, [1, 7])],
            plain,
        )],
        Neg | Abs => vec![case(vec![ints(0)], plain)],
        Clamp => vec![case(
            vec![ints(0)],
            Attributes {
                limits: [-100.0, 200.0],
                ..plain
            },
        )],
        Where => {
            let condition = integers(Element::Bool, 2, [0, 1]);
            let of_bools = Call::new(
                operator,
                vec![
                    condition.clone(),
                    integers(Element::Bool, 0, [0, 1]),
                    integers(Element::Bool, 1, [0, 1]),
                ],
                plain.clone(),
            );
            vec![
                case(vec![condition, ints(0), ints(1)], plain),
                Case::named("bool", of_bools),
            ]
        }
        Eq | Ne => {
            let sizes = CaseSizes {
                operator,
                sizes: &shape,
                element: Element::Bool,
            };
            let bools =
                [0, 1].map(|index| sizes.random(index).integers(&shape, Element::Bool, [0, 1]));
            vec![
                near(operator),
                Case::named("bool", Call::new(operator, bools.to_vec(), plain)),
            ]
        }
        Lt | Le | Gt | Ge | Less => vec![near(operator)],
        _ => Vec::new(),
    }
}

/// Integers of which many are equal.
fn near(operator: Operator) -> Case {
    let inputs = [0, 1].map(|index| {
        XorShift64::new(operator.as_str(), index).integers(&[3, 5], Element::I32, [-2, 2])
    });
    Case::named(
        "i32",
        Call::new(operator, inputs.to_vec(), Attributes::default()),
    )
}
