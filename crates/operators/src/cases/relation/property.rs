//! One relation: its name, and how its violation is found.

use crate::{
    calls::{Call, CallError, Execute, HostTensor},
    cases::case::Case,
};

/// A relation between the results of several calls.
pub struct Relation {
    /// The property, and the variant of the operator.
    pub name: String,
    check: RelationCheck,
}

/// Computes what the relation needs, and returns how it is violated.
type RelationCheck = Box<dyn Fn(&dyn Execute) -> Result<Option<String>, CallError>>;

impl Relation {
    pub(super) fn new(
        name: &str,
        case: &Case,
        check: impl Fn(&dyn Execute, &Call) -> Violation + 'static,
    ) -> Self {
        let variant = if case.variant.is_empty() {
            String::new()
        } else {
            format!(", {}", case.variant)
        };
        let call = case.call.clone();
        Self {
            name: format!("{name}{variant}"),
            check: Box::new(move |executor| check(executor, &call)),
        }
    }

    /// How the relation is violated, or `None` if it holds.
    ///
    /// # Errors
    ///
    /// When a call is not computed.
    pub fn violation(&self, executor: &dyn Execute) -> Result<Option<String>, CallError> {
        (self.check)(executor)
    }
}

/// How a relation is violated.
pub(super) type Violation = Result<Option<String>, CallError>;

/// The result of a call.
pub(super) fn result(executor: &dyn Execute, call: &Call) -> Result<HostTensor, CallError> {
    Ok(executor.execute(call)?.tensor)
}

/// The first element in which two tensors differ in their bits; NaN equals NaN.
pub(super) fn difference(expected: &HostTensor, got: &HostTensor) -> Option<String> {
    if expected.shape != got.shape || expected.element != got.element {
        let (shape, other) = (&got.shape, &expected.shape);
        return Some(format!(
            "the result is {} {shape:?}, expected {} {other:?}",
            got.element, expected.element
        ));
    }
    let places: Vec<usize> = expected.differing(got).collect();
    let first = *places.first()?;
    let (count, total, position) = (places.len(), got.len(), got.position(first));
    let (a, b) = (expected.values[first], got.values[first]);
    Some(format!(
        "{count} of {total} elements differ; {position:?} is {b:?}, expected {a:?}"
    ))
}
