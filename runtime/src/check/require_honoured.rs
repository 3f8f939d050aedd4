//! `require_honoured`: `TESTGEN_REQUIRE` turns absence, fallback and mock into failure.
//!
//! It makes a numeric check, once on a device that is never there and once with a checkpoint that is not, with and without
//! the requirement, and judges what the judge says.

use super::{Context, Examination, Failures, Found, Verdict, fallback_marked::ABSENT};
use crate::{Checkpoint, require::Requirements};
use testgen_contract::{Check, Registration};

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let kind = exam.registration.device;
    let free = Requirements::default();
    let required = Requirements::of(kind);
    let here = &exam.context.checkpoint;
    let missing = Checkpoint::at(here.directory().join("there-is-no-such-checkpoint"));
    let mut failures = Failures::default();
    let made = |checkpoint: &Checkpoint, requirements: &Requirements| {
        let context = Context { checkpoint: checkpoint.clone(), requirements, index: ABSENT };
        let registration = Registration { check: Check::Finite, ..exam.registration };
        super::run(registration, exam.harness, &context).verdict
    };
    let ignored = made(here, &free);
    if !matches!(&ignored, Verdict::Ignored { reason } if !reason.is_empty()) {
        failures.push(format!(
            "without a requirement an absent {kind} gives {ignored:?}, expected ignored with the reason"
        ));
    }
    let absent = made(here, &required);
    let told = match &absent {
        Verdict::Fail { reason } if reason.contains(&format!("TESTGEN_REQUIRE={kind}")) => reason.clone(),
        _ => {
            failures.push(format!("TESTGEN_REQUIRE={kind} and an absent {kind} give {absent:?}, expected a failure"));
            String::new()
        }
    };
    for requirements in [&required, &free] {
        let mock = made(&missing, requirements);
        if !matches!(mock, Verdict::Fail { .. }) {
            failures.push(format!("a mock gives {mock:?}, expected a failure"));
        }
    }
    failures.conclude()?;
    Ok(Some(told))
}
