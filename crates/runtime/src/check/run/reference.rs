//! The reference's own result of a check that an engine fails: transformers on the CPU, as the
//! engine `torch/eager`.
//!
//! A model without a native implementation has the properties that its class in transformers has.
//! Not every class has the properties of its architecture: some take packed images, count positions
//! in another way, or cannot compute in 16 bits.

use super::{CheckContext, CheckEvidence, CheckOutcome, CheckStatus};
use crate::subject::Subject;
use testgen_device::DeviceIndex;
use testgen_engine::{EngineCommand, EngineName};
use testgen_types::{CheckTopic, DeviceKind, Registration};

/// The engine that goldens are recorded with.
const REFERENCE: &str = "torch/eager";

/// The outcome of a check, which is ignored if the reference fails it, too. Finite numbers that
/// differ from the golden remain a failure, whatever the reference does. `run` runs the check in
/// another environment.
pub(super) fn compare(
    outcome: CheckOutcome,
    registration: Registration,
    subject: &Subject,
    context: &CheckContext<'_>,
    run: impl FnOnce(Registration, &CheckContext<'_>) -> CheckOutcome,
) -> CheckOutcome {
    let has_failed = matches!(outcome.status, CheckStatus::Fail { .. });
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
    match failure(of_reference) {
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
    let is_close = || {
        evidence
            .outputs
            .iter()
            .all(|output| output.headroom >= 1.0 || output.non_finite > 0)
    };
    let is_relation = registration.check.topic() == CheckTopic::Relations;
    // Errors of a relation are not distances from the golden, so they cannot contradict it.
    let equals_golden = !evidence.differs_from_golden && (is_relation || is_close());
    has_reference && !context.engine.is_native() && registration.check.is_numeric() && equals_golden
}

/// The reference, unless a program of the user's has its name.
fn reference() -> Option<EngineName> {
    REFERENCE.parse().ok().filter(EngineCommand::is_built_in)
}

/// Why the reference fails, or `None` if it passes, or has loaded no model.
fn failure(outcome: CheckOutcome) -> Option<String> {
    let CheckEvidence {
        mock, device_name, ..
    } = outcome.evidence;
    match outcome.status {
        // A reference that loaded nothing has not shown that the class lacks the property.
        CheckStatus::Fail { reason } if device_name.is_some() && !mock => Some(reason),
        CheckStatus::Fail { .. } | CheckStatus::Pass { .. } | CheckStatus::Ignored { .. } => None,
    }
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
mod tests {
    use super::*;
    use crate::require::RequiredDevices;
    use testgen_models::Source;
    use testgen_types::{Check, ModelType, OutputError, Precision};

    const SOURCE: Source = Source {
        path: "there",
        hub: None,
    };
    const SMOLLM3: Subject = Subject::Model {
        model_type: ModelType::Smollm3,
        source: SOURCE,
    };

    /// The outcome of a check whose only number has `headroom`.
    fn outcome(status: CheckStatus, headroom: f64) -> CheckOutcome {
        let outputs = vec![OutputError::with_headroom("logits".to_owned(), headroom)];
        let evidence = CheckEvidence {
            device_name: Some("CPU".to_owned()),
            outputs,
            ..CheckEvidence::default()
        };
        CheckOutcome { status, evidence }
    }

    fn failed(reason: &str, headroom: f64) -> CheckOutcome {
        outcome(
            CheckStatus::Fail {
                reason: reason.to_owned(),
            },
            headroom,
        )
    }

    /// The outcome of `check` of a model on `engine`, and the engine on which the reference ran.
    fn compared(
        subject: Subject,
        engine: &str,
        check: Check,
        own: CheckOutcome,
        of_reference: CheckOutcome,
    ) -> (CheckOutcome, Option<DeviceKind>) {
        let (requirements, mut ran) = (RequiredDevices::default(), None);
        let context = CheckContext {
            checkpoint: None,
            requirements: &requirements,
            index: DeviceIndex::Auto,
            engine: engine.parse().expect("is a name"),
        };
        let registration = Registration {
            check,
            device: DeviceKind::Cuda,
            precision: Precision::F16,
        };
        let outcome = compare(
            own,
            registration,
            &subject,
            &context,
            |registration, context| {
                assert_eq!(
                    (registration.precision, context.engine.to_string()),
                    (Precision::F16, REFERENCE.to_owned())
                );
                ran = Some(registration.device);
                of_reference
            },
        );
        (outcome, ran)
    }

    #[test]
    fn a_property_that_the_reference_does_not_have_is_not_the_engines() {
        let reference = failed("rows differ\nand more", 0.5);
        let (found, ran) = compared(
            SMOLLM3,
            "torch",
            Check::BatchInvariance,
            failed("wrong", 0.1),
            reference,
        );
        let reason =
            "the reference fails this check, too (torch/eager on the CPU): rows differ".to_owned();
        assert_eq!(
            (found.status, ran),
            (CheckStatus::Ignored { reason }, Some(DeviceKind::Cpu))
        );
        assert_eq!(
            (
                found.evidence.outputs,
                found.evidence.device_name.as_deref()
            ),
            (Vec::new(), Some("CPU"))
        );
    }

    #[test]
    fn a_property_that_the_reference_has_is_the_engines() {
        let own = failed("wrong", 0.1);
        let passed = outcome(CheckStatus::Pass { summary: None }, 2.0);
        assert_eq!(
            compared(SMOLLM3, "mine", Check::BatchInvariance, own.clone(), passed).0,
            own
        );
        // Without the model it proves nothing.
        let mut mock = failed("no such file", 2.0);
        mock.evidence.mock = true;
        assert_eq!(
            compared(SMOLLM3, "torch", Check::BatchInvariance, own.clone(), mock).0,
            own
        );
        let mut absent = failed("no Python", 2.0);
        absent.evidence.device_name = None;
        assert_eq!(
            compared(
                SMOLLM3,
                "torch",
                Check::BatchInvariance,
                own.clone(),
                absent
            )
            .0,
            own
        );
    }

    #[test]
    fn a_number_that_differs_from_the_golden_is_the_engines() {
        let own = failed("wrong", 0.9);
        assert_eq!(
            compared(
                SMOLLM3,
                "torch",
                Check::OutputGolden,
                own.clone(),
                failed("wrong", 0.9)
            ),
            (own, None)
        );
    }

    #[test]
    fn a_number_that_differs_from_the_golden_is_the_engines_in_a_check_of_properties_too() {
        let mut own = failed("wrong", 0.1);
        own.evidence.differs_from_golden = true;
        assert_eq!(
            compared(
                SMOLLM3,
                "torch",
                Check::MaskGolden,
                own.clone(),
                own.clone()
            ),
            (own, None)
        );
        let (found, _) = compared(
            SMOLLM3,
            "torch",
            Check::MaskGolden,
            failed("wrong", 0.1),
            failed("wrong", 0.1),
        );
        assert!(matches!(found.status, CheckStatus::Ignored { .. }));
    }

    /// The handler, which both have in common, may be the cause.
    #[test]
    fn a_label_that_differs_from_the_golden_is_not_the_class_s() {
        let mut own = failed("another label", 2.0);
        own.evidence.outputs.clear();
        own.evidence.differs_from_golden = true;
        assert_eq!(
            compared(
                SMOLLM3,
                "torch",
                Check::HandlerGolden,
                own.clone(),
                own.clone()
            ),
            (own, None)
        );
    }

    #[test]
    fn an_infinity_where_the_reference_overflows_is_not_the_engines() {
        let mut own = failed("inf", 0.0);
        own.evidence.outputs[0].non_finite = 3;
        let (found, _) = compared(SMOLLM3, "torch", Check::OutputGolden, own.clone(), own);
        assert!(matches!(found.status, CheckStatus::Ignored { .. }));
    }

    #[test]
    fn an_error_of_the_reference_is_not_the_engines() {
        let error = failed("expected Float but found Half", 2.0);
        let (found, _) = compared(SMOLLM3, "torch", Check::OutputGolden, error.clone(), error);
        assert!(matches!(found.status, CheckStatus::Ignored { .. }));
    }

    #[test]
    fn only_failures_of_engines_on_models_without_a_native_implementation_are_compared() {
        let llama = Subject::Model {
            model_type: ModelType::Llama,
            source: SOURCE,
        };
        let (own, passed) = (
            failed("wrong", 0.1),
            outcome(CheckStatus::Pass { summary: None }, 2.0),
        );
        let check = Check::BatchInvariance;
        assert_eq!(
            compared(llama, "torch", check, own.clone(), own.clone()).1,
            None
        );
        assert_eq!(
            compared(
                Subject::Operators { shapes: &[] },
                "torch",
                check,
                own.clone(),
                own.clone()
            )
            .1,
            None
        );
        assert_eq!(
            compared(SMOLLM3, "native", check, own.clone(), own.clone()).1,
            None
        );
        assert_eq!(
            compared(SMOLLM3, "torch", check, passed, own.clone()).1,
            None
        );
        let mock = failed("it is not marked", 2.0);
        assert_eq!(
            compared(SMOLLM3, "torch", Check::MockMarked, mock.clone(), mock).1,
            None
        );
    }
}
