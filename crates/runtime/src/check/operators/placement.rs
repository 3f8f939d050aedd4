//! `placement` of operators: every result is on the device that the endpoint reports.

use super::{
    super::run::{Abort, CheckResult, CheckRun, Failures},
    calls::{
        under_test::{OperatorsUnderTest, first_cases},
        unsupported::UnsupportedCalls,
    },
};
#[cfg(test)]
use crate::check::tests::faulty::{Detected, Fault};
use testgen_operators::calls::{CallError, Execute};

#[cfg(test)]
pub(in crate::check) const FAULT: Detected = Detected::new(
    Fault::OutputOnOtherDevice,
    "outputs on another device",
    "is on cuda, not on cpu",
);

pub(in crate::check) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let loaded = run.subject_under_test()?;
    let tested = OperatorsUnderTest::new(run, &loaded);
    let Some(device) = tested.tensor_kind() else {
        return Err(Abort::Fail("the endpoint names no device".to_owned()));
    };
    let (mut failures, mut unsupported, mut count) =
        (Failures::default(), UnsupportedCalls::default(), 0);
    for (operator, case) in first_cases(run)? {
        match tested.execute(&case.call) {
            // Only results that were computed count: a check without any is ignored below.
            Ok(computed) if computed.device == device => count += 1,
            Err(CallError::Unsupported { message, .. }) => unsupported.add(operator, &message),
            Ok(computed) => failures.push(format!(
                "`{operator}` is on {}, not on {device}",
                computed.device
            )),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures.conclude()?;
    unsupported.conclude(count)?;
    Ok(Some(format!("{count} tensors on {device}{unsupported}")))
}
