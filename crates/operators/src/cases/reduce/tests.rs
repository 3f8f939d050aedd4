//! Faults with a known smallest shape, and what the reduced calls are.

use super::*;
use crate::{
    calls::Element,
    cases::{cases, odd_sizes},
};
use testgen_types::Operator;

fn call(operator: Operator, sizes: &[usize], variant: &str) -> Call {
    let found = cases(operator, sizes, Element::F32)
        .into_iter()
        .find(|case| case.variant == variant);
    found.expect("the operator has the variant").call
}

fn shapes(call: &Call) -> Vec<Vec<usize>> {
    call.inputs
        .iter()
        .map(|input| input.tensor.shape.clone())
        .collect()
}

/// Reduces with a fault that depends on the shapes.
fn reduced(call: &Call, fails: impl Fn(&[Vec<usize>]) -> bool) -> Call {
    assert!(fails(&shapes(call)), "the whole call fails");
    let reduction = reduce(call, |tried| Some(fails(&shapes(tried))));
    assert!(!reduction.incomplete && fails(&shapes(&reduction.call)));
    reduction.call
}

#[test]
fn products_end_at_the_smallest_shape_that_fails() {
    let matmul = call(Operator::Matmul, &[300, 1000, 70], "");
    // The tail of a tile of 16 rows; a sum of more than 512 terms; the last of 33 columns.
    let tail = reduced(&matmul, |shapes| {
        shapes[0][0] % 16 != 0 && shapes[0][0] > 16
    });
    assert_eq!(shapes(&tail), [[17, 1], [1, 1]]);
    let long = reduced(&matmul, |shapes| shapes[0][1] > 512);
    assert_eq!(shapes(&long), [[1, 513], [513, 1]]);
    let both = reduced(&matmul, |shapes| shapes[0][1] > 700 && shapes[1][1] >= 33);
    assert_eq!(shapes(&both), [[1, 701], [701, 33]]);
    let area = reduced(&matmul, |shapes| shapes[0][0] * shapes[1][1] >= 1000);
    assert!(
        (1000..2000).contains(&(area.inputs[0].tensor.shape[0] * area.inputs[1].tensor.shape[1]))
    );
}

#[test]
fn a_fault_of_one_element_ends_at_that_element() {
    let mut softmax = call(Operator::Softmax, &[40, 65], "dim 1");
    softmax.inputs[0].tensor.values[20 * 65 + 33] = f64::NAN;
    let reduction = reduce(&softmax, |tried| {
        Some(
            tried.inputs[0]
                .tensor
                .values
                .iter()
                .any(|value| value.is_nan()),
        )
    });
    assert_eq!(shapes(&reduction.call), [[1, 1]]);
    assert!(reduction.call.inputs[0].tensor.values[0].is_nan());
}

#[test]
fn every_case_ends_at_a_call_of_its_operator() {
    for operator in Operator::ALL {
        for case in cases(*operator, &odd_sizes(*operator), Element::F32) {
            let reduction = reduce(&case.call, |tried| {
                dimensions(tried).unwrap_or_else(|problem| panic!("{operator}: {problem}"));
                Some(true)
            });
            let longest = shapes(&reduction.call)
                .concat()
                .into_iter()
                .max()
                .unwrap_or(1);
            // Padding needs a window of twice its length, and both halves of a head are needed.
            assert!(
                longest <= 3,
                "{operator} {}: {:?}",
                case.description(),
                shapes(&reduction.call)
            );
            assert!(reduction.runs < 1000, "{operator}: {}", reduction.runs);
        }
    }
}

#[test]
fn groups_and_channels_shrink_on_both_sides() {
    let sizes = odd_sizes(Operator::Conv2d);
    let grouped = call(Operator::Conv2d, &sizes, "2 groups");
    let one = reduced(&grouped, |shapes| shapes[1][0] >= 3);
    assert_eq!(
        (one.attributes.groups, &one.inputs[1].tensor.shape[..2]),
        (1, &[3, 1][..])
    );
    let depthwise = call(Operator::Conv2d, &sizes, "depthwise");
    let both = reduced(&depthwise, |shapes| shapes[0][1] >= 2 && shapes[1][1] == 1);
    assert_eq!(
        (both.attributes.groups, both.inputs[2].tensor.shape[0]),
        (2, 2)
    );
}

#[test]
fn heads_that_share_keys_keep_sharing_them() {
    let attention = call(
        Operator::ScaledDotProductAttention,
        &[2, 4, 5, 7, 6],
        "grouped heads",
    );
    let heads = reduced(&attention, |shapes| shapes[0][1] >= 2);
    assert_eq!(shapes(&heads)[..2], [[1, 2, 1, 1], [1, 1, 1, 1]]);
    let rope = call(Operator::Rope, &[2, 3, 5, 12], "");
    let wide = reduced(&rope, |shapes| shapes[0][3] >= 6);
    assert_eq!(shapes(&wide), [[1, 1, 1, 6], [1, 1, 1, 6], [1, 1, 1, 6]]);
    // The second half begins with the element that belongs to the first of the first half.
    let (from, to) = (&rope.inputs[0].tensor, &wide.inputs[0].tensor);
    assert_eq!(to.values[3], from.values[6]);
}

#[test]
fn indices_stay_within_what_they_index() {
    let embedding = call(Operator::Embedding, &[50, 8, 9], "");
    let narrow = reduced(&embedding, |shapes| shapes[1][1] >= 4);
    assert_eq!(shapes(&narrow), [vec![1, 1], vec![1, 4]]);
    assert!(
        narrow.inputs[1]
            .tensor
            .values
            .iter()
            .all(|index| *index == 0.0)
    );
}

#[test]
fn a_search_can_be_ended() {
    let matmul = call(Operator::Matmul, &[30, 30, 30], "");
    let mut left = 10;
    let reduction = reduce(&matmul, |_| {
        left -= 1;
        (left > 0).then_some(false)
    });
    assert!(reduction.incomplete);
    assert_eq!((reduction.runs, reduction.call), (10, matmul));
}
