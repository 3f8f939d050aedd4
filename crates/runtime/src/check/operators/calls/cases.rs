//! The cases of a harness, for every operator and shape of its spec.

use crate::subject::OperatorShapes;
use testgen_operators::{
    calls::Element,
    cases::{Case, cases},
};

/// The cases of one operator on the shapes of its spec.
pub(in crate::check::operators) fn of_shapes(
    shapes: &OperatorShapes,
    element: Element,
) -> Vec<Case> {
    shapes
        .shapes
        .iter()
        .flat_map(|sizes| cases(shapes.operator, sizes, element))
        .collect()
}

/// The cases of one operator on the first shape of its spec, for checks that do not depend on
/// sizes.
pub(in crate::check::operators) fn of_first_shape(
    shapes: &OperatorShapes,
    element: Element,
) -> Vec<Case> {
    shapes
        .shapes
        .first()
        .map(|sizes| cases(shapes.operator, sizes, element))
        .unwrap_or_default()
}
