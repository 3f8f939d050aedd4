//! The reference's own result of a check that an engine fails: transformers on the CPU, as the
//! engine `torch/eager`.
//!
//! A model without a native implementation has the properties that its class in transformers has.
//! Not every class has the properties of its architecture: some take packed images, count positions
//! in another way, or cannot compute in 16 bits.

use super::{CheckContext, CheckEvidence, CheckOutcome, CheckStatus};
use crate::subject::Subject;
use std::collections::BTreeSet;
use testgen_device::DeviceIndex;
use testgen_engine::{EngineCommand, EngineName};
use testgen_types::{CheckTopic, DeviceKind, Registration};

/// The engine that goldens are recorded with.
const REFERENCE: &str = "torch/eager";

/// The outcome of a check, which is ignored if the reference fails it, too, and in the same outputs.
/// Finite numbers that differ from the golden remain a failure, whatever the reference does. `run`
/// runs the check in another environment.
pub(super) fn compare(
    outcome: CheckOutcome,
    registration: Registration,
    subject: &Subject,
    context: &CheckContext<'_>,
    run: impl FnOnce(Registration, &CheckContext<'_>) -> CheckOutcome,
) -> CheckOutcome {
    // A panic is a fault of the runtime or of the device, whatever the reference does.
    let has_failed =
        matches!(outcome.status, CheckStatus::Fail { .. }) && !outcome.evidence.panicked;
    if !has_failed || !depends_on_class(registration, subject, context, &outcome.evidence) {
        return outcome;
    }
    let Some(engine) = reference() else {
        return outcome;
    };
    let device = DeviceKind::Cpu;
    let of_reference = if context.engine == engine && registration.device == device {
        // The reference is what failed; running it again would fail in the same way.
        outcome.clone()
    } else {
        let context = CheckContext {
            engine,
            // The index may be of a GPU, and there is one CPU.
            index: DeviceIndex::default(),
            ..context.clone()
        };
        run(
            Registration {
                device,
                ..registration
            },
            &context,
        )
    };
    match failure(of_reference, &outcome.evidence) {
        Some(reason) => ignored(outcome, &reason),
        None => outcome,
    }
}

/// Whether the class of the model may be the cause of a failure, and not the engine.
fn depends_on_class(
    registration: Registration,
    subject: &Subject,
    context: &CheckContext<'_>,
    evidence: &CheckEvidence,
) -> bool {
    let has_reference = subject
        .model_type()
        .is_some_and(|model_type| model_type.native().is_none());
    // What overflows in the reference, too, is not a number of the engine's.
    let is_close = evidence
        .outputs
        .iter()
        .all(|output| output.headroom >= 1.0 || output.non_finite > 0);
    let is_relation = registration.check.topic() == CheckTopic::Relations;
    // Errors of a relation are not distances from the golden, so they cannot contradict it.
    let equals_golden = !evidence.differs_from_golden && (is_relation || is_close);
    has_reference && !context.engine.is_native() && registration.check.is_numeric() && equals_golden
}

/// The reference, unless a program of the user's has its name.
fn reference() -> Option<EngineName> {
    REFERENCE.parse().ok().filter(EngineCommand::is_built_in)
}

/// Why the reference fails, or `None` if it passes, fails in other outputs than `engine`, or has
/// loaded no model.
fn failure(outcome: CheckOutcome, engine: &CheckEvidence) -> Option<String> {
    let CheckOutcome { status, evidence } = outcome;
    // A reference that loaded nothing has not shown that the class lacks the property.
    let has_run = evidence.device_name.is_some() && !evidence.mock && !evidence.panicked;
    match status {
        CheckStatus::Fail { reason } if has_run && covers(&evidence, engine) => Some(reason),
        CheckStatus::Fail { .. } | CheckStatus::Pass { .. } | CheckStatus::Ignored { .. } => None,
    }
}

/// Whether every output in which the engine fails is one in which the reference fails, too.
fn covers(reference: &CheckEvidence, engine: &CheckEvidence) -> bool {
    let (reference, engine) = (failing(reference), failing(engine));
    // An engine that fails without wrong outputs, as with an error, is covered by a reference
    // without wrong outputs: wrong numbers of the reference say nothing about an error.
    engine.is_subset(&reference) && engine.is_empty() == reference.is_empty()
}

/// The names of the outputs that are above their thresholds, without the rows, lengths or steps of
/// a comparison.
fn failing(evidence: &CheckEvidence) -> BTreeSet<&str> {
    let failing = evidence.outputs.iter();
    failing
        .filter(|output| output.headroom < 1.0)
        // A class that lacks a property shows it at other rows, lengths or steps on another device.
        .filter_map(|output| output.name.split([' ', ',']).next())
        .collect()
}

/// The outcome of a check that the reference fails with `reason`.
fn ignored(outcome: CheckOutcome, reason: &str) -> CheckOutcome {
    let first = reason.lines().next().unwrap_or_default();
    let reason = format!("the reference fails this check, too ({REFERENCE} on the CPU): {first}");
    // Errors of the model are not errors of the device.
    let evidence = CheckEvidence {
        outputs: Vec::new(),
        ..outcome.evidence
    };
    CheckOutcome {
        status: CheckStatus::Ignored { reason },
        evidence,
    }
}

#[cfg(test)]
mod tests;
