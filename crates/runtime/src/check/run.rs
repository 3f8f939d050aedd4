//! How a check is run: with which device and engine, on which subject, and the outcome with its
//! evidence.

mod check_run;
mod compare;
mod context;
mod hardware;
mod measured_memory;
mod needed_feature;
mod outcome;
mod reference;
mod subject_under_test;

pub(in crate::check) use check_run::{CheckFunction, CheckRun};
pub(in crate::check) use compare::RecordedOutput;
pub(crate) use context::CheckContext;
pub(in crate::check) use context::MISSING;
pub(in crate::check) use outcome::{Abort, CheckResult, Failures, refuses_inputs};
pub(crate) use outcome::{CheckEvidence, CheckOutcome, CheckStatus};
pub(in crate::check) use subject_under_test::{SubjectUnderTest, absent_device};

use crate::{harness::Harness, kernels};
use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};
use testgen_types::{Registration, panic_text};

/// Runs `check`; its failure is compared with the reference's own result.
pub(super) fn run(
    check: CheckFunction,
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
) -> CheckOutcome {
    let outcome = execute(check, registration, harness, context);
    reference::compare(
        outcome,
        registration,
        &harness.spec.subject,
        context,
        |registration, context| execute(check, registration, harness, context),
    )
}

/// Runs `check` with a separate engine. A panic is a failure with its message.
pub(super) fn execute(
    check: impl FnOnce(&mut CheckRun<'_>) -> CheckResult,
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
) -> CheckOutcome {
    // Kernels that an earlier check launched on this thread are not this check's.
    drop(kernels::take_fingerprint());
    let mut run = CheckRun::new(registration, harness, context);
    // After a panic only the evidence and the engine of the run are used.
    let work = AssertUnwindSafe(|| run.outcome(check));
    let CheckOutcome { status, evidence } = catch_unwind(work).unwrap_or_else(|payload| {
        let reason = format!("the check panicked: {}", panic_text(payload.as_ref()));
        CheckOutcome {
            status: CheckStatus::Fail { reason },
            evidence: CheckEvidence {
                panicked: true,
                // The device and the errors so far say where it panicked.
                ..mem::take(&mut run.evidence)
            },
        }
    });
    // After a panic as well: the next check takes the processes of this one.
    let (kernels, engine) = (kernels::take_fingerprint(), run.engine.finish());
    CheckOutcome {
        status,
        evidence: CheckEvidence {
            kernels,
            engine,
            ..evidence
        },
    }
}
