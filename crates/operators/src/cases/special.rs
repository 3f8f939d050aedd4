//! NaN, infinities, zeros, subnormal and the largest numbers.

use crate::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::{
        case::{Case, CaseSizes},
        sizes::{cases, odd_sizes},
    },
};
use testgen_types::{Operator, OperatorGroup};

/// The special numbers of a type, and one.
fn special_numbers(element: Element) -> Vec<f64> {
    let (smallest, normal, largest) = (
        element.smallest(),
        element.smallest_normal(),
        element.largest(),
    );
    let positive = [0.0, smallest, normal, 1.0, largest, f64::INFINITY];
    let negative = positive.map(|number: f64| -number);
    [&positive[..], &negative[..], &[f64::NAN]].concat()
}

/// Calls of `operator` on special numbers.
pub fn special_cases(operator: Operator, element: Element) -> Vec<Case> {
    let numbers = special_numbers(element);
    match operator.group() {
        OperatorGroup::Elementwise | OperatorGroup::Comparison | OperatorGroup::Activation
            if !is_softmax(operator) =>
        {
            let numbers: Vec<f64> = numbers
                .into_iter()
                .filter(|number| {
                    // PyTorch's own results for infinities depend on the processor, and the formula
                    // has no value for the negative one.
                    operator != Operator::Gelu || !number.is_infinite()
                })
                .collect();
            elementwise(operator, element, &numbers)
        }
        OperatorGroup::Fused if operator == Operator::AddRelu => {
            elementwise(operator, element, &numbers)
        }
        // PyTorch refuses numbers outside of 0 to 1.
        _ if operator == Operator::BceLoss => Vec::new(),
        _ => [spread(operator, element), hidden_scores(operator, element)].concat(),
    }
}

fn is_softmax(operator: Operator) -> bool {
    matches!(operator, Operator::Softmax | Operator::LogSoftmax)
}

/// Every number, or every pair of numbers.
fn elementwise(operator: Operator, element: Element, numbers: &[f64]) -> Vec<Case> {
    // Of any size: every input is replaced.
    let plain = cases(operator, &[1, 1], element);
    plain
        .into_iter()
        .map(|case| filled(case, element, numbers))
        .collect()
}

/// A case with every number, or with every pair of numbers if it has two inputs of floats.
fn filled(case: Case, element: Element, numbers: &[f64]) -> Case {
    let count = numbers.len();
    let mut call = case.call;
    let last = call.inputs.len() - 1;
    // A condition keeps its type, and meets every pair.
    let floats: Vec<usize> = (0..=last)
        .filter(|index| call.inputs[*index].tensor.element.is_float())
        .collect();
    let square = if floats.len() == 1 {
        count
    } else {
        count * count
    };
    for (position, index) in floats.iter().enumerate() {
        call.inputs[*index].tensor = HostTensor::new(
            [square],
            element,
            (0..square)
                .map(|flat| {
                    if position == 0 {
                        numbers[flat % count]
                    } else {
                        numbers[flat / count]
                    }
                })
                .collect(),
        );
    }
    for index in (0..=last).filter(|index| !floats.contains(index)) {
        let values = (0..square)
            // 3 does not divide the number of special numbers, so each one is chosen and not
            // chosen.
            .map(|flat| f64::from(u8::from(flat % 3 == 0)))
            .collect();
        call.inputs[index].tensor = HostTensor::new([square], Element::Bool, values);
    }
    Case::named(
        if case.variant.is_empty() {
            "special numbers".to_owned()
        } else {
            case.variant
        },
        call,
    )
}

/// Random numbers with a NaN, infinities or subnormal numbers among them, if the operator has a
/// result for these.
fn spread(operator: Operator, element: Element) -> Vec<Case> {
    let plain = cases(operator, &odd_sizes(operator), element);
    let changes = changes(operator, element);
    plain
        .iter()
        .flat_map(|case| {
            changes
                .iter()
                .filter_map(move |(name, numbers)| with_numbers(case, name, numbers))
        })
        .collect()
}

/// A case with `numbers` among its first input of floats, or `None` if it has no input of floats.
fn with_numbers(case: &Case, name: &str, numbers: &[f64]) -> Option<Case> {
    let mut call = case.call.clone();
    let first = call
        .inputs
        .iter_mut()
        .find(|input| input.tensor.element.is_float())?;
    let length = first.tensor.len();
    for (place, number) in numbers.iter().enumerate() {
        // Neighbours, most of them in one row, so that the sum of two infinities has no value.
        first.tensor.values[(length / 2 + place) % length] = *number;
    }
    let variant = if case.variant.is_empty() {
        name.to_owned()
    } else {
        format!("{}, {name}", case.variant)
    };
    Some(Case { variant, call })
}

/// The numbers that are put among the others.
fn changes(operator: Operator, element: Element) -> Vec<(&'static str, Vec<f64>)> {
    let (infinity, small) = (f64::INFINITY, element.smallest());
    let mut changes = vec![
        ("a NaN", vec![f64::NAN]),
        ("subnormal numbers", vec![small, -3.0 * small]),
    ];
    // Losses have domains, and the gelu of an infinity depends on the processor in PyTorch, too.
    let domain =
        matches!(operator.group(), OperatorGroup::Loss) || operator == Operator::MatmulBiasGelu;
    if !domain {
        changes.extend([
            ("an infinity", vec![infinity]),
            ("a negative infinity", vec![-infinity]),
            ("both infinities", vec![infinity, -infinity]),
        ]);
    }
    changes
}

/// A softmax of scores of which some, or all, are minus infinity, and of scores whose powers would
/// overflow.
fn hidden_scores(operator: Operator, element: Element) -> Vec<Case> {
    if !is_softmax(operator) {
        return Vec::new();
    }
    let hidden = f64::NEG_INFINITY;
    // The difference of any two of them is finite.
    let large = element.largest() / 4.0;
    let rows = [
        [0.5, hidden, 1.5],
        [hidden, hidden, hidden],
        [large, large / 2.0, -large],
        [-large, -large, -large],
    ];
    let sizes = CaseSizes {
        operator,
        sizes: &[4, 3],
        element,
    };
    let tensor = HostTensor::new(sizes.sizes, element, rows.concat());
    vec![Case::named(
        "hidden and large scores",
        Call::new(operator, vec![tensor], Attributes::of_dim(1)),
    )]
}
