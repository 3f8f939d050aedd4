//! `memory_released` of operators: memory in use returns to its value once all results are dropped.

use super::{
    super::{
        memory_released::released,
        run::{Abort, CheckResult, CheckRun},
    },
    calls::under_test::{OperatorsUnderTest, first_cases},
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
        let results = cases.iter().map(|(_, case)| tested.execute(&case.call));
        let supported =
            results.filter(|result| !matches!(result, Err(CallError::Unsupported { .. })));
        supported
            // All results at once, so that memory in use rises before they are dropped.
            .collect::<Result<Vec<_>, _>>()
            .map(drop)
            .map_err(Abort::from)
    })
}
