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

fn differences(first: &Forward, again: &Forward) -> Vec<String> {
    let outputs = first
        .outputs
        .iter()
        .map(|(name, array)| (name.clone(), array, again.outputs.get(name)));
    let trace = first.trace.iter().map(|(name, array)| {
        (
            format!("trace.{name}"),
            array,
            again
                .trace
                .iter()
                .find(|(found, _)| found == name)
                .map(|(_, array)| array),
        )
    });
    outputs
        .chain(trace)
        .filter_map(|(name, array, other)| first_different_bits(&name, array, other?))
        .collect()
}

/// The first element whose bits differ.
fn first_different_bits(name: &str, first: &Array, again: &Array) -> Option<String> {
    let (Some(one), Some(other)) = (first.as_floats(), again.as_floats()) else {
        return None;
    };
    if first.shape() != again.shape() {
        return Some(format!(
            "{name} has the shape {:?}; in the first run it was {:?}",
            again.shape(),
            first.shape()
        ));
    }
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
}
