//! `finite`: no NaN and no infinity where the reference has none, in outputs and hidden states.

use super::{Examination, Failures, Found};
use crate::Array;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    let subject = exam.subject()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let forward = subject.model().forward_traced(&case.inputs)?;
        for (name, got) in &forward.outputs {
            failures.note(strangers(&case.tell(name), case.outputs.get(name), got));
        }
        for (name, got) in &forward.trace {
            failures.note(strangers(&case.tell(&format!("trace.{name}")), None, got));
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// Elements that are not finite although the reference's are; without a reference all must be.
fn strangers(name: &str, reference: Option<&Array>, got: &Array) -> Option<String> {
    let values = got.as_floats()?;
    let expected = reference.and_then(Array::as_floats).filter(|expected| expected.len() == values.len());
    let allowed = |flat: usize| expected.is_some_and(|expected| !expected[flat].is_finite());
    let found: Vec<usize> = (0..values.len()).filter(|flat| !values[*flat].is_finite() && !allowed(*flat)).collect();
    let first = *found.first()?;
    let (count, total, value) = (found.len(), values.len(), values[first]);
    Some(format!("`{name}`: {count} of {total} elements are not finite, the first is element {first}: {value}"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_reference_has_not_is_told() {
        let array = |values: &[f32]| Array::floats([values.len()], values.to_vec());
        let odd = array(&[1.0, f32::NAN, f32::INFINITY]);
        assert_eq!(strangers("y", Some(&odd), &odd), None);
        let told = strangers("y", Some(&array(&[1.0, f32::NAN, 2.0])), &odd).unwrap();
        assert!(told.contains("1 of 3") && told.contains("element 2: inf"), "{told}");
        assert!(strangers("y", None, &odd).unwrap().contains("2 of 3"));
    }
}
