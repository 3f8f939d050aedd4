//! `memory_released` of operators: memory in use returns to its value once all results are dropped.

use super::{
    super::{
        memory_released::released,
        run::{Abort, CheckResult, CheckRun},
    },
    calls::{
        under_test::{OperatorsUnderTest, first_cases},
        unsupported::UnsupportedCalls,
    },
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::calls::{CallError, Execute};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected =
    Detected::new(Fault::ModelKept, "the model remains in memory", "1099");

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    released(run, |run, tested| {
        let cases = first_cases(run)?;
        let tested = OperatorsUnderTest::new(run, tested);
        let mut unsupported = UnsupportedCalls::default();
        // All results at once, and until the memory is read: on the host they are what it holds.
        let mut results = Vec::new();
        for (operator, case) in &cases {
            match tested.execute(&case.call) {
                Err(CallError::Unsupported { message, .. }) => unsupported.add(*operator, &message),
                result => results.push(result.map_err(Abort::from)?),
            }
        }
        unsupported.conclude(results.len())?;
        Ok(results)
    })
}
