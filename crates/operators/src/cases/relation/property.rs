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

/// The first element in which two tensors differ in their bits, or which is NaN in both: no input of
/// a relation has a result of NaN.
pub(super) fn difference(expected: &HostTensor, got: &HostTensor) -> Option<String> {
    if let Some(problem) = other_shape(expected, got) {
        return Some(problem);
    }
    let places: Vec<usize> = expected.differing(got).collect();
    // `differing` takes NaN as equal, so that a device that returns only NaN would pass.
    let Some(&first) = places.first() else {
        return nan(got);
    };
    let (count, total, position) = (places.len(), got.len(), got.position(first));
    let (a, b) = (expected.values[first], got.values[first]);
    Some(format!(
        "{count} of {total} elements differ; {position:?} is {b:?}, expected {a:?}"
    ))
}

/// The shape and the type of a result, if they are not the expected ones.
pub(super) fn other_shape(expected: &HostTensor, got: &HostTensor) -> Option<String> {
    let (shape, other) = (&got.shape, &expected.shape);
    (shape != other || expected.element != got.element).then(|| {
        format!(
            "the result is {} {shape:?}, expected {} {other:?}",
            got.element, expected.element
        )
    })
}

/// The elements of a result that are NaN, if there are any.
fn nan(got: &HostTensor) -> Option<String> {
    let mut found = (0..got.len()).filter(|flat| got.values[*flat].is_nan());
    let position = got.position(found.next()?);
    let (count, total) = (1 + found.count(), got.len());
    Some(format!(
        "{count} of {total} elements are NaN in both results, the first is {position:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::{HostTensor, difference};
    use crate::calls::Element;

    #[test]
    fn nan_in_both_results_is_a_violation() {
        let row = |values: [f64; 3]| HostTensor::new([1, 3], Element::F32, values.to_vec());
        let numbers = row([1.0, -0.0, f64::INFINITY]);
        assert_eq!(difference(&numbers, &numbers), None);
        let nan = row([1.0, f64::NAN, f64::NAN]);
        assert_eq!(
            difference(&nan, &nan).as_deref(),
            Some("2 of 3 elements are NaN in both results, the first is [0, 1]")
        );
        let other = difference(&numbers, &nan);
        assert!(other.is_some_and(|text| text.starts_with("2 of 3 elements differ")));
    }
}
