//! Sums, means, extremes and products, of all elements or over a dimension.

use crate::{
    calls::{Attributes, Call},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::{BoundedNumber, maximum, minimum},
        reference::{Reference, exact, lines},
    },
};
use testgen_types::Operator;

/// All elements, rows and columns.
pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    let x = match sizes.operator {
        // Near 1, so that products of many stay normal.
        Operator::Prod => sizes
            .random(0)
            .signed(sizes.sizes, sizes.element, [0.8, 1.25]),
        _ => sizes.floats(0, sizes.sizes, [-2.0, 2.0]),
    };
    let mut variants = vec![
        ("dim 1", Attributes::of_dim(1)),
        ("dim 0", Attributes::of_dim(0)),
    ];
    // A product of thousands of numbers leaves the range of f16.
    if sizes.operator != Operator::Prod || x.len() <= 64 {
        variants.push(("all elements", Attributes::default()));
    }
    variants
        .into_iter()
        .map(|(variant, attributes)| Case::named(variant, sizes.call(vec![x.clone()], attributes)))
        .collect()
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    let Some(x) = call.tensor(0) else {
        return Reference::computed(arithmetic, [0], Vec::new());
    };
    let numbers = exact(x);
    let (shape, groups) = match call.attributes.dim {
        Some(dim) => {
            let mut shape = x.shape.clone();
            shape.remove(dim);
            (shape, lines(&x.shape, dim))
        }
        None => (Vec::new(), vec![(0..x.len()).collect()]),
    };
    let results = groups
        .into_iter()
        .map(|group| {
            reduced(
                call.operator,
                arithmetic,
                group.into_iter().map(|index| numbers[index]),
            )
        })
        .collect();
    match call.operator {
        Operator::Sum | Operator::Mean => Reference::summed(arithmetic, shape, results),
        _ => Reference::computed(arithmetic, shape, results),
    }
}

fn reduced(
    operator: Operator,
    arithmetic: Arithmetic,
    numbers: impl Iterator<Item = BoundedNumber>,
) -> BoundedNumber {
    match operator {
        Operator::Sum => arithmetic.sum(numbers),
        Operator::Mean => {
            let numbers: Vec<BoundedNumber> = numbers.collect();
            let count = numbers.len() as f64;
            arithmetic.div(arithmetic.sum(numbers), BoundedNumber::exact(count))
        }
        Operator::Max => extreme(numbers, f64::NEG_INFINITY, maximum),
        Operator::Min => extreme(numbers, f64::INFINITY, minimum),
        _ => numbers.fold(BoundedNumber::exact(1.0), |product, number| {
            arithmetic.mul(product, number)
        }),
    }
}

fn extreme(
    numbers: impl Iterator<Item = BoundedNumber>,
    start: f64,
    select: impl Fn(f64, f64) -> f64,
) -> BoundedNumber {
    BoundedNumber::exact(numbers.fold(start, |extreme, number| select(extreme, number.value)))
}
