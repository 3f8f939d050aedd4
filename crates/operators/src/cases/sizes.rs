//! The cases of every operator, from the sizes of a shape.

use crate::{
    calls::Element,
    cases::{
        case::{Case, CaseSizes},
        group,
    },
};
use testgen_types::Operator;

/// Every case of `operator` for `sizes`, on inputs of type `element`. Empty if the number of sizes
/// is wrong.
pub fn cases(operator: Operator, sizes: &[usize], element: Element) -> Vec<Case> {
    if sizes.len() != operator.sizes().len() {
        return Vec::new();
    }
    group::cases(&CaseSizes {
        operator,
        sizes,
        element,
    })
}

/// Small odd sizes, which leave tails in every kernel that computes several elements at a time.
pub fn odd_sizes(operator: Operator) -> Vec<usize> {
    operator
        .sizes()
        .iter()
        .map(|name| match *name {
            "batch" | "heads" | "groups" | "ranks" => 2,
            "in" | "channels" | "channels of a group" | "kernel" => 3,
            "out" | "output" => 4,
            "head_dim" => 6,
            "inner" | "length" | "height" | "positions" | "keys" => 7,
            "columns" | "width" | "classes" | "queries" | "seq" => 5,
            // Rows, depth, picks, elements.
            _ => 3,
        })
        .collect()
}
