//! `require_honoured`: `TESTGEN_REQUIRE` turns an absent device, and with it a fallback, into a failure. A mock always fails.
//!
//! It runs another check on a device that does not exist, and with a checkpoint that does not exist, with and without the
//! requirement, and examines the status.

use super::{
    check_run::{CheckRun, Context, execute},
    fallback_marked::ABSENT,
    finite, operators,
    outcome::{CheckResult, CheckStatus, Failures},
};
use crate::require::Requirements;
use testgen_models::Checkpoint;
use testgen_types::{Architecture, Check, Registration};

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let kind = run.registration.device;
    let free = Requirements::default();
    let required = Requirements::of(kind);
    let here = &run.context.checkpoint;
    // Of operators, which have no checkpoint, any is one that cannot be loaded.
    let missing = Checkpoint::at(here.directory().join("there-is-no-such-checkpoint"));
    let mut failures = Failures::default();
    let status = |checkpoint: &Checkpoint, requirements: &Requirements| {
        let context = Context { checkpoint: checkpoint.clone(), requirements, index: ABSENT };
        // `finite` is the cheapest check of numbers that models have, `placement` that of operators.
        let (check, implementation) = match run.spec().architecture {
            Architecture::Operators => {
                let placement = operators::implementation(Check::Placement).unwrap_or(operators::of_model);
                (Check::Placement, placement)
            }
            _ => (Check::Finite, finite::check as _),
        };
        let registration = Registration { check, ..run.registration };
        execute(implementation, registration, run.harness, &context).status
    };
    let ignored = status(here, &free);
    if !matches!(&ignored, CheckStatus::Ignored { reason } if !reason.is_empty()) {
        failures.push(format!("without a requirement an absent {kind} is {ignored:?}, expected ignored with a reason"));
    }
    let absent = status(here, &required);
    let reason = match &absent {
        CheckStatus::Fail { reason } if reason.contains(&format!("TESTGEN_REQUIRE={kind}")) => reason.clone(),
        _ => {
            failures.push(format!("with TESTGEN_REQUIRE={kind} an absent {kind} is {absent:?}, expected a failure"));
            String::new()
        }
    };
    for requirements in [&required, &free] {
        let mock = status(&missing, requirements);
        if !matches!(mock, CheckStatus::Fail { .. }) {
            failures.push(format!("a mock is {mock:?}, expected a failure"));
        }
    }
    failures.conclude()?;
    Ok(Some(reason))
}
