//! `determinism` of operators: three runs return the same bits, with the other operators between
//! them.

use super::{
    super::run::{CheckResult, CheckRun, Failures},
    calls::{
        under_test::{OperatorsUnderTest, first_cases},
        unsupported::UnsupportedCalls,
    },
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::calls::{CallError, Computed, Execute};

/// Two could agree by chance where results depend on the order in which threads finish.
const RUNS: usize = 3;

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::EverySecondCallOneBitOff,
    "every second run differs in one bit",
    "differs in 1 elements|1 elements differ",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let cases = first_cases(run)?;
    // All cases in each run, not three times the same case: memory of the others is reused in
    // between.
    let runs: Vec<Vec<Result<Computed, CallError>>> = (0..RUNS)
        .map(|_| {
            cases
                .iter()
                .map(|(_, case)| tested.execute(&case.call))
                .collect::<Vec<_>>()
        })
        .collect();
    let (mut failures, mut unsupported, mut count) =
        (Failures::default(), UnsupportedCalls::default(), 0);
    for (index, (operator, case)) in cases.iter().enumerate() {
        for (number, again) in runs.iter().enumerate().skip(1) {
            let problem = match (&runs[0][index], &again[index]) {
                // Only in both runs: support that comes and goes is a difference.
                (
                    Err(CallError::Unsupported { message, .. }),
                    Err(CallError::Unsupported { .. }),
                ) => {
                    unsupported.add(*operator, message);
                    None
                }
                (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
                (Ok(first), Ok(again)) => {
                    count += 1;
                    differs(first, again)
                }
            };
            failures.extend(problem.map(|problem| {
                format!(
                    "`{operator}` of {}, run {}: {problem}",
                    case.description(),
                    number + 1
                )
            }));
        }
    }
    failures.conclude()?;
    unsupported.conclude(count)?;
    Ok(None)
}

/// The first element whose bits differ. As bits: compared as numbers, 0 equals -0, and NaN differs
/// from itself.
fn differs(first: &Computed, again: &Computed) -> Option<String> {
    let (one, other) = (&first.tensor, &again.tensor);
    // Shapes first, because without equal shapes no element has a counterpart.
    if one.shape != other.shape {
        return Some(format!(
            "the shape is {:?}; in the first run it was {:?}",
            other.shape, one.shape
        ));
    }
    let flat = one
        .values
        .iter()
        .zip(&other.values)
        .position(|(one, other)| one.to_bits() != other.to_bits())?;
    let count = one
        .values
        .iter()
        .zip(&other.values)
        .filter(|(one, other)| one.to_bits() != other.to_bits())
        .count();
    Some(format!(
        "{count} elements differ, first {:?}: {} then {}",
        one.position(flat),
        one.values[flat],
        other.values[flat]
    ))
}
