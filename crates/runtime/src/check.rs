//! The checks: one file per check, found by the table of checks.
//!
//! Owns what each check proves and its outcome. `run` runs a check, `inputs` makes inputs,
//! `comparison` has what several checks compare. Which checks a harness must have is defined in
//! `testgen_types`; listing, locking and reporting are in `suite`. A check passes only if it ran on
//! the device that it names.

mod attention_paths;
mod batch_invariance;
mod causal_leak;
mod comparison;
mod config_effective;
mod correct;
mod detection_golden;
mod determinism;
mod dtype_ladder;
mod embed_golden;
mod expert_paths;
mod fallback_marked;
mod finite;
mod generation_controls;
mod greedy_margin;
mod half_probe;
mod handler_golden;
mod inputs;
mod kv_cache_equivalence;
mod layer_trace_golden;
mod load_keys_exact;
mod long_text;
mod mask_golden;
mod memory_released;
mod mock_marked;
#[cfg(feature = "operators")]
mod operators;
mod output_golden;
mod pad_invariance;
mod placement;
mod preprocess_golden;
mod require_honoured;
mod retrieval_golden;
mod router_golden;
mod run;
mod shape_sweep;

#[cfg(feature = "operators")]
pub(crate) use correct::{Agreement, CheckedCase, with_checked_cases};
pub(crate) use correct::{CorrectModel, with_correct_model};
pub(crate) use run::{CheckContext, CheckEvidence, CheckOutcome, CheckStatus};

use crate::{golden::Golden, harness::Harness};
use run::{Abort, CheckFunction, CheckResult, CheckRun};
use testgen_models::Checkpoint;
use testgen_types::{Check, Registration, SubjectKind, Task, for_each_check};

/// Runs one check.
pub(crate) fn run(
    registration: Registration,
    harness: &Harness,
    context: &CheckContext<'_>,
) -> CheckOutcome {
    let check = match harness.spec.architecture.subject() {
        SubjectKind::Model => of_models(registration.check),
        SubjectKind::Operators => of_operators(registration.check),
    };
    run::run(
        check.unwrap_or(of_another_subject),
        registration,
        harness,
        context,
    )
}

/// A check that a harness has although its subject does not have the property, which no template
/// does.
fn of_another_subject(run: &mut CheckRun<'_>) -> CheckResult {
    let Registration { check, .. } = run.registration;
    Err(Abort::Fail(format!(
        "`{check}` is not a check of {}",
        run.spec().architecture
    )))
}

macro_rules! dispatch {
    ($(
        $(#[$property:meta])+
        $check:ident $name:literal
        [$(Model($models:ident $(, $known_by:ident)?))? $(,)? $(Operators($($operators:ident)::+))?] $(needs($feature:ident))?
        { $($facts:tt)* }
    )+) => {
        fn of_models(check: Check) -> Option<CheckFunction> {
            match check {
                $($(Check::$check => Some($models::check),)?)+
                _ => None,
            }
        }

        #[cfg(feature = "operators")]
        fn of_operators(check: Check) -> Option<CheckFunction> {
            match check {
                $($(Check::$check => Some($($operators)::+::check),)?)+
                _ => None,
            }
        }

        /// Why a check does not apply to this checkpoint, as its golden and its recorded answers
        /// show without loading the model, which a listing must not do. The checks without such a
        /// reason apply to every checkpoint, or find out only while they run.
        pub(crate) fn inapplicable(check: Check, task: Task, checkpoint: &Checkpoint) -> Option<String> {
            match check {
                $($($(Check::$check => $known_by(checkpoint, task, $models::inapplicable),)?)?)+
                _ => None,
            }
        }
    };
}

for_each_check!(dispatch);

#[cfg(not(feature = "operators"))]
fn of_operators(_check: Check) -> Option<CheckFunction> {
    Some(|_run| {
        Err(Abort::Fail(
            crate::load_target::InitError::OperatorsNotCompiled.to_string(),
        ))
    })
}

fn by_golden(
    checkpoint: &Checkpoint,
    _task: Task,
    inapplicable: fn(&Golden) -> Option<String>,
) -> Option<String> {
    // A golden that cannot be read is not a reason to ignore a check: the check runs, and fails
    // with the error.
    Golden::read(checkpoint.directory())
        .ok()
        .and_then(|golden| inapplicable(&golden))
}

fn by_class(
    checkpoint: &Checkpoint,
    _task: Task,
    inapplicable: fn(&str) -> Option<String>,
) -> Option<String> {
    Golden::read(checkpoint.directory())
        .ok()
        .and_then(|golden| inapplicable(&golden.model_class))
}

fn by_answers(
    checkpoint: &Checkpoint,
    task: Task,
    inapplicable: fn(&std::path::Path, Task) -> Option<String>,
) -> Option<String> {
    inapplicable(checkpoint.directory(), task)
}

#[cfg(test)]
mod tests;
