//! `finite`: outputs and hidden states have no NaN and no infinity, except for elements that are
//! not finite in the reference.

use super::run::{CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use crate::golden::RecordedTensor;
use testgen_nn::array::Array;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::NotANumber,
    "one element of each output is NaN",
    "elements are not finite",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let forward = tested.model().forward_traced(&case.inputs)?;
        for (name, got) in &forward.outputs {
            failures.extend(non_finite(
                &case.qualified(name),
                // A summary has no single elements, so without all values every element must be
                // finite.
                case.outputs.get(name).and_then(RecordedTensor::whole),
                got,
            ));
        }
        for (name, got) in &forward.trace {
            failures.extend(non_finite(
                &case.qualified(&format!("trace.{name}")),
                None,
                got,
            ));
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// The failure if elements are not finite although the elements of the reference are. Without a
/// reference all must be finite.
fn non_finite(name: &str, reference: Option<&Array>, got: &Array) -> Option<String> {
    let values = got.as_floats()?;
    let expected = reference
        .and_then(Array::as_floats)
        // Another shape is another check's failure; here every element then has to be finite.
        .filter(|expected| expected.len() == values.len());
    let found: Vec<usize> = (0..values.len())
        .filter(|flat| !values[*flat].is_finite() && !may_be_infinite(*flat, expected))
        .collect();
    let first = *found.first()?;
    let (count, total, value) = (found.len(), values.len(), values[first]);
    Some(format!(
        "`{name}`: {count} of {total} elements are not finite, the first is element {first}: {value}"
    ))
}

fn may_be_infinite(flat: usize, expected: Option<&[f32]>) -> bool {
    expected.is_some_and(|expected| !expected[flat].is_finite())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn only_elements_that_are_finite_in_the_reference_are_reported() {
        let array = |values: &[f32]| Array::floats([values.len()], values.to_vec());
        let odd = array(&[1.0, f32::NAN, f32::INFINITY]);
        assert_eq!(non_finite("y", Some(&odd), &odd), None);
        let message = non_finite("y", Some(&array(&[1.0, f32::NAN, 2.0])), &odd).unwrap();
        assert!(
            message.contains("1 of 3") && message.contains("element 2: inf"),
            "{message}"
        );
        assert!(non_finite("y", None, &odd).unwrap().contains("2 of 3"));
    }
}
