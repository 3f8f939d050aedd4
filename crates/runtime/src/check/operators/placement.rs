//! `placement` of operators: every result is on the device that the endpoint reports.

use super::{
    super::run::{Abort, CheckResult, CheckRun, Failures},
    calls::under_test::{OperatorsUnderTest, first_cases},
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
    let (mut failures, cases) = (Failures::default(), first_cases(run)?);
    for (operator, case) in &cases {
        match tested.execute(&case.call) {
            Ok(computed) if computed.device == device => {}
            Err(CallError::Unsupported { .. }) => {}
            Ok(computed) => failures.push(format!(
                "`{operator}` is on {}, not on {device}",
                computed.device
            )),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures.conclude()?;
    Ok(Some(format!("{} tensors on {device}", cases.len())))
}
