//! `determinism`: three runs return the same bits.

use super::run::{CheckResult, CheckRun, Failures};
#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use testgen_nn::{array::Array, forward::Forward};

/// Two could agree by chance where results depend on the order in which threads finish.
const RUNS: usize = 3;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::EverySecondCallOneBitOff,
    "every second run differs in one bit",
    "differs in 1 elements|1 elements differ",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    let tested = run.subject_under_test()?;
    let mut failures = Failures::default();
    for case in &golden.cases {
        let first = tested.model().forward_traced(&case.inputs)?;
        for round in 1..RUNS {
            // With the hidden states, which name the first layer that differs.
            let again = tested.model().forward_traced(&case.inputs)?;
            for difference in differences(&first, &again) {
                failures.push(format!(
                    "run {}: {}",
                    round + 1,
                    case.qualified(&difference)
                ));
            }
        }
    }
    failures.conclude()?;
    Ok(None)
}

/// The differences, in the order of computation.
fn differences(first: &Forward, again: &Forward) -> Vec<String> {
    let (first, again) = (results(first), results(again));
    let compared = first
        .iter()
        .filter_map(|(name, array)| match find(&again, name) {
            Some(other) => first_different_bits(name, array, other),
            None => Some(format!("{name} was computed in the first run only")),
        });
    let extra = again
        .iter()
        .filter(|(name, _)| find(&first, name).is_none())
        .map(|(name, _)| format!("{name} was not computed in the first run"));
    compared.chain(extra).collect()
}

/// The outputs and the trace.
fn results(forward: &Forward) -> Vec<(String, &Array)> {
    let outputs = forward.outputs.iter();
    let trace = forward.trace.iter();
    outputs
        .map(|(name, array)| (name.clone(), array))
        .chain(trace.map(|(name, array)| (format!("trace.{name}"), array)))
        .collect()
}

fn find<'a>(results: &[(String, &'a Array)], name: &str) -> Option<&'a Array> {
    let found = results.iter().find(|(found, _)| found == name);
    found.map(|(_, array)| *array)
}

/// The first element whose bits differ.
fn first_different_bits(name: &str, first: &Array, again: &Array) -> Option<String> {
    // Shapes first, because without equal shapes no element has a counterpart.
    if first.shape() != again.shape() {
        return Some(format!(
            "{name} has the shape {:?}; in the first run it was {:?}",
            again.shape(),
            first.shape()
        ));
    }
    let (Some(one), Some(other)) = (first.as_floats(), again.as_floats()) else {
        return (first != again).then(|| format!("{name} differs"));
    };
    // As bits: compared as numbers, 0 equals -0, and NaN differs from itself.
    let flat = one
        .iter()
        .zip(other)
        .position(|(one, other)| one.to_bits() != other.to_bits())?;
    let count = one
        .iter()
        .zip(other)
        .filter(|(one, other)| one.to_bits() != other.to_bits())
        .count();
    Some(format!(
        "{name} differs in {count} elements, first in element {flat}: {} then {}",
        one[flat], other[flat]
    ))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn even_the_sign_of_zero_is_a_difference() {
        let array = |value: f32| Array::floats([2], vec![1.0, value]);
        assert_eq!(first_different_bits("y", &array(0.0), &array(0.0)), None);
        assert_eq!(
            first_different_bits("y", &array(f32::NAN), &array(f32::NAN)),
            None
        );
        assert!(
            first_different_bits("y", &array(0.0), &array(-0.0))
                .unwrap()
                .contains("element 1")
        );
        assert!(first_different_bits("y", &array(1.0), &array(1.0 + f32::EPSILON)).is_some());
    }

    #[test]
    fn integers_and_types_are_compared() {
        let array = |value: i64| Array::integers([1], vec![value]);
        assert_eq!(first_different_bits("y", &array(1), &array(1)), None);
        let floats = Array::floats([1], vec![1.0]);
        for other in [array(2), floats] {
            let difference = first_different_bits("y", &array(1), &other);
            assert_eq!(difference.as_deref(), Some("y differs"));
        }
    }

    #[test]
    fn a_missing_output_or_hidden_state_is_a_difference() {
        let array = Array::floats([1], vec![1.0]);
        let mut first = Forward::default();
        first.outputs.insert("y".to_owned(), array.clone());
        first.trace.push(("layer.0".to_owned(), array));
        assert!(differences(&first, &first).is_empty());
        let none = Forward::default();
        for (differences, what) in [
            (
                differences(&first, &none),
                "was computed in the first run only",
            ),
            (
                differences(&none, &first),
                "was not computed in the first run",
            ),
        ] {
            let expected = ["y", "trace.layer.0"].map(|name| format!("{name} {what}"));
            assert_eq!(differences, expected);
        }
    }
}
