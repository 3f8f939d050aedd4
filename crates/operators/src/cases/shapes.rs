//! Odd sizes, strides, offsets, broadcasting, and tensors without elements.

use crate::{
    calls::{Attributes, Call, Element, Layout},
    cases::{
        case::{Case, CaseSizes},
        sizes::{cases, odd_sizes},
    },
};
use testgen_types::{Operator, OperatorGroup};

/// The cases of `operator` in every layout, with inputs that are broadcast, and without elements.
pub fn shape_cases(operator: Operator, element: Element) -> Vec<Case> {
    let odd = odd_sizes(operator);
    let plain = cases(operator, &odd, element);
    let layouts = Layout::ALL
        .iter()
        .flat_map(|layout| plain.iter().map(move |case| in_layout(case, layout)));
    let mut all: Vec<Case> = layouts.collect();
    all.extend(broadcast(operator, element));
    all.extend(empty(operator, element));
    all
}

/// The case with all inputs in a layout. Of expanded ones all rows are equal.
fn in_layout(case: &Case, layout: &Layout) -> Case {
    let mut call = case.call.clone();
    for input in &mut call.inputs {
        // A stride of 0 stores one row for all of them, so all rows must be equal.
        if *layout == Layout::Expanded
            && !input.tensor.shape.is_empty()
            && input.tensor.shape[0] > 0
        {
            input.tensor = input.tensor.rows(&vec![0; input.tensor.shape[0]]);
        }
        input.layout = layout.clone();
    }
    let variant = [case.variant.as_str(), layout.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty());
    Case {
        variant: variant.collect::<Vec<_>>().join(", "),
        call,
    }
}

/// Rows with columns, a number with a tensor, and more dimensions on one side.
fn broadcast(operator: Operator, element: Element) -> Vec<Case> {
    let shapes: [[&[usize]; 2]; 3] = [[&[3, 1], &[1, 5]], [&[3, 5], &[1, 1]], [&[5], &[2, 3, 5]]];
    if !broadcasts(operator) {
        return Vec::new();
    }
    let sizes = CaseSizes {
        operator,
        sizes: &[],
        element,
    };
    shapes
        .iter()
        .map(|[left, right]| {
            // In the range of all operators that broadcast: a quotient needs a divisor, a power a
            // positive base.
            let inputs = vec![
                sizes.floats(0, left, [0.5, 2.0]),
                sizes.floats(1, right, [0.5, 2.0]),
            ];
            Case::named(
                "broadcast",
                Call::new(operator, inputs, Attributes::default()),
            )
        })
        .collect()
}

/// Whether an operator on two tensors broadcasts them.
fn broadcasts(operator: Operator) -> bool {
    match operator.group() {
        OperatorGroup::Comparison => true,
        OperatorGroup::Elementwise => matches!(
            operator,
            Operator::Add
                | Operator::Sub
                | Operator::Mul
                | Operator::Div
                | Operator::Pow
                | Operator::MaxBinary
                | Operator::MinBinary
                | Operator::Maximum
                | Operator::Minimum
        ),
        _ => false,
    }
}

/// No rows; for operators that are defined then.
fn empty(operator: Operator, element: Element) -> Vec<Case> {
    let empty = match (operator.group(), operator) {
        (OperatorGroup::Elementwise | OperatorGroup::Comparison | OperatorGroup::Activation, _) => {
            cases(operator, &[0, 5], element)
        }
        (_, Operator::AddRelu | Operator::MulAdd | Operator::Transpose | Operator::Copy) => {
            cases(operator, &[0, 5], element)
        }
        (_, Operator::LayerNorm | Operator::RmsNorm) => cases(operator, &[0, 5], element),
        _ => Vec::new(),
    };
    empty
        .into_iter()
        .filter(is_defined)
        .map(|case| {
            let variant = if case.variant.is_empty() {
                "empty".to_owned()
            } else {
                format!("{}, empty", case.variant)
            };
            Case { variant, ..case }
        })
        .collect()
}

fn is_defined(case: &Case) -> bool {
    // Over a dimension without elements, a softmax has no largest score.
    case.call.attributes.dim != Some(0)
}
