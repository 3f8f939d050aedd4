//! Collectives: what ranks send each other, and the sums that they make of it.

use super::matrix::product;
use crate::{
    calls::{Attributes, Call, HostTensor},
    cases::{
        arithmetic::Arithmetic,
        case::{Case, CaseSizes},
        number::BoundedNumber,
        reference::{Reference, exact},
    },
};
use std::ops::Range;
use testgen_types::Operator;

pub(super) fn cases(sizes: &CaseSizes<'_>) -> Vec<Case> {
    match *sizes.sizes {
        [ranks, elements] => exchanges(sizes, [ranks, elements]),
        [ranks, rows, inner, columns] => {
            let left = [ranks, rows, inner];
            let mut inputs = vec![
                sizes.floats(0, &left, [-1.0, 1.0]),
                sizes.floats(1, &[ranks, inner, columns], [-1.0, 1.0]),
            ];
            if sizes.operator == Operator::ColumnParallelProduct {
                // All ranks have the same first factor.
                inputs[0] = inputs[0].rows(&vec![0; ranks]);
            }
            vec![Case::new(sizes.call(inputs, Attributes::default()))]
        }
        _ => Vec::new(),
    }
}

/// The cases of an operator that exchanges tensors. A rank that has a part for every rank has
/// `elements` in each.
fn exchanges(sizes: &CaseSizes<'_>, [ranks, elements]: [usize; 2]) -> Vec<Case> {
    use Operator::*;
    let each = match sizes.operator {
        ReduceScatter | AllToAll => ranks * elements,
        _ => elements,
    };
    let numbers = sizes.floats(0, &[ranks, each], [-1.0, 1.0]);
    // Sums of them are exact in every type, in any order.
    let integers = sizes
        .random(1)
        .integers(&[ranks, each], sizes.element, [-8, 8]);
    let call = |input: &HostTensor, root, in_place| {
        let attributes = Attributes {
            root,
            in_place,
            ..Attributes::default()
        };
        sizes.call(vec![input.clone()], attributes)
    };
    match sizes.operator {
        AllToAll => vec![Case::new(call(&numbers, 0, false))],
        BroadcastFromRank => (0..ranks)
            .map(|root| Case::named(format!("from rank {root}"), call(&numbers, root, true)))
            .collect(),
        AllGather => vec![
            Case::named("out of place", call(&numbers, 0, false)),
            Case::named("in place", call(&numbers, 0, true)),
        ],
        _ => [("numbers", &numbers), ("integers", &integers)]
            .into_iter()
            .flat_map(|(name, input)| {
                [("out of place", false), ("in place", true)].map(|(place, in_place)| {
                    Case::named(format!("{name}, {place}"), call(input, 0, in_place))
                })
            })
            .collect(),
    }
}

pub(super) fn reference(call: &Call, arithmetic: Arithmetic) -> Reference {
    use Operator::*;
    match (call.operator, call.tensor(0), call.tensor(1)) {
        (ColumnParallelProduct, Some(x), Some(weight)) => {
            let (shape, parts) = product(arithmetic, x, weight);
            let [ranks, rows, columns] = [0, 1, 2].map(|dimension| shape[dimension]);
            let numbers: Vec<BoundedNumber> = (0..rows)
                .flat_map(|row| {
                    // `chunks` panics at 0.
                    let parts = parts.chunks(columns.max(1)).skip(row).step_by(rows);
                    parts.flatten().copied()
                })
                .collect();
            on_every_rank(arithmetic, ranks, &[rows, ranks * columns], &numbers)
        }
        (RowParallelProduct, Some(x), Some(weight)) => {
            let (shape, parts) = product(arithmetic, x, weight);
            // A rank sends its part in the type of the tensors.
            let parts: Vec<BoundedNumber> = parts
                .into_iter()
                .map(|number| arithmetic.stored(number))
                .collect();
            let sums = sums_over_ranks(arithmetic, shape[0], &parts);
            on_every_rank(arithmetic, shape[0], &shape[1..], &sums)
        }
        (_, Some(x), _) => exchanged(call, x, arithmetic),
        _ => Reference::computed(arithmetic, [0], Vec::new()),
    }
}

/// The result of an operator that exchanges the rows of `x`, one of each rank.
fn exchanged(call: &Call, x: &HostTensor, arithmetic: Arithmetic) -> Reference {
    let (ranks, each) = (x.shape[0], x.shape[1]);
    let part = each / ranks;
    let moved = |order: Vec<usize>, width: usize| {
        let values = order.into_iter().map(|index| x.values[index]).collect();
        Reference::moved(HostTensor::new([ranks, width], x.element, values))
    };
    match call.operator {
        Operator::AllReduce => {
            let sums = sums_over_ranks(arithmetic, ranks, &exact(x));
            on_every_rank(arithmetic, ranks, &[each], &sums)
        }
        Operator::ReduceScatter => {
            let sums = sums_over_ranks(arithmetic, ranks, &exact(x));
            Reference::computed(arithmetic, [ranks, part], sums)
        }
        Operator::AllGather => moved(repeated(ranks, 0..ranks * each), ranks * each),
        Operator::AllToAll => {
            let order = (0..ranks * each).map(|index| {
                let (to, from, place) = (index / each, index % each / part, index % part);
                from * each + to * part + place
            });
            moved(order.collect(), each)
        }
        _ => {
            // A call that was made smaller may have fewer ranks than the number of its root.
            let start = call.attributes.root % ranks * each;
            moved(repeated(ranks, start..start + each), each)
        }
    }
}

fn repeated(times: usize, range: Range<usize>) -> Vec<usize> {
    (0..times).flat_map(|_| range.clone()).collect()
}

/// The same numbers of a shape on every rank.
fn on_every_rank(
    arithmetic: Arithmetic,
    ranks: usize,
    shape: &[usize],
    numbers: &[BoundedNumber],
) -> Reference {
    let shape: Vec<usize> = [&[ranks], shape].concat();
    Reference::computed(arithmetic, shape, numbers.repeat(ranks))
}

/// For each place the sum over the ranks, in any order.
fn sums_over_ranks(
    arithmetic: Arithmetic,
    ranks: usize,
    numbers: &[BoundedNumber],
) -> Vec<BoundedNumber> {
    let each = numbers.len() / ranks;
    let element = arithmetic.element();
    // Unlike within a kernel, every partial sum is rounded to the type of the tensors, because it
    // is sent in it.
    let sum = |place: usize| {
        let terms = numbers.iter().skip(place).step_by(each);
        let are_integers = terms.clone().all(|term| term.value.fract() == 0.0);
        let [value, magnitude, error, variance] = terms.fold([0.0; 4], |sums, term| {
            let term = [term.value, term.value.abs(), term.error, term.variance];
            std::array::from_fn(|index| sums[index] + term[index])
        });
        // Up to here a type has every integer.
        let is_exact = are_integers && error == 0.0 && magnitude * element.unit() <= 1.0;
        let additions = (ranks - 1) as f64;
        let rounding = if is_exact {
            0.0
        } else {
            element.unit() * magnitude + element.smallest()
        };
        BoundedNumber {
            value,
            error: error + additions * rounding,
            variance: variance + additions * rounding * rounding / 3.0,
        }
    };
    (0..each).map(sum).collect()
}
