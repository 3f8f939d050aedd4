//! Comparisons: truth values, false if a number is NaN, except that NaN differs from everything.

use crate::{
    calls::{Attributes, Call},
    cases::{
        case::{Case, CaseSizes},
        reference::{Reference, common_shape},
    },
};
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let inputs = [0, 1].map(|index| {
        sizes
            .random(index)
            // Whole numbers, so that many pairs are equal.
            .integers(sizes.sizes, sizes.element, [-3, 3])
    });
    vec![Case::new(Call::new(
        sizes.operator,
        inputs.to_vec(),
        Attributes::default(),
    ))]
}

pub(super) fn reference(call: &Call) -> Reference {
    let shape = common_shape(call);
    let [a, b] = [0, 1].map(|index| {
        call.tensor(index)
            .map(|tensor| tensor.expanded(&shape).values)
            .unwrap_or_default()
    });
    let truths = a
        .iter()
        .zip(&b)
        .map(|(a, b)| holds(call.operator, *a, *b))
        .collect();
    Reference::booleans(shape, truths)
}

fn holds(operator: Operator, a: f64, b: f64) -> bool {
    match operator {
        Operator::Eq => a == b,
        Operator::Ne => a != b,
        Operator::Le => a <= b,
        Operator::Gt => a > b,
        Operator::Ge => a >= b,
        // `lt` and `less`.
        _ => a < b,
    }
}
