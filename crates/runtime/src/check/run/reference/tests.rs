//! Failures that the reference has, too, and failures that are the engine's alone.

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
    let mut panicked = failed("the check panicked", 0.1);
    panicked.evidence.panicked = true;
    for [engine, reference] in [[&panicked, &own], [&own, &panicked]] {
        let (found, _) = compared(
            SMOLLM3,
            "torch",
            Check::BatchInvariance,
            engine.clone(),
            reference.clone(),
        );
        assert_eq!(found, *engine);
    }
    // Without the model it proves nothing.
    let mut mock = failed("no such file", 0.1);
    mock.evidence.mock = true;
    assert_eq!(
        compared(SMOLLM3, "torch", Check::BatchInvariance, own.clone(), mock).0,
        own
    );
    let mut absent = failed("no Python", 0.1);
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

#[test]
fn another_output_than_those_of_the_reference_is_the_engines() {
    let compare = |own: &[(&str, f64)], reference: &[(&str, f64)]| {
        let failed = |outputs: &[(&str, f64)]| {
            let mut failed = failed("wrong", 2.0);
            let named = outputs
                .iter()
                .map(|(name, headroom)| OutputError::with_headroom((*name).to_owned(), *headroom));
            failed.evidence.outputs = named.collect();
            failed
        };
        let check = Check::BatchInvariance;
        let (own, reference) = (failed(own), failed(reference));
        let (found, _) = compared(SMOLLM3, "torch", check, own.clone(), reference);
        let is_ignored = matches!(found.status, CheckStatus::Ignored { .. });
        assert!(is_ignored || found == own, "a failure is left as it is");
        is_ignored
    };
    let both = [("logits", 0.5), ("last_hidden_state", 0.5)];
    assert!(compare(&both, &both));
    assert!(compare(&both[..1], &both));
    assert!(!compare(&both, &both[..1]));
    assert!(!compare(
        &both,
        &[("logits", 0.5), ("last_hidden_state", 2.0)]
    ));
    assert!(!compare(&[("logits", 0.5)], &[("pooled", 0.5)]));
    // An error of one of them says nothing about a number of the other.
    assert!(!compare(&both, &[("logits", 2.0)]));
    assert!(!compare(&[("logits", 2.0)], &both));
    assert!(compare(&[], &[("logits", 2.0)]));
    // One output at two lengths, and in two rows.
    assert!(compare(
        &[("logits, length 33 of 129", 0.5)],
        &[("logits of row 0 alone", 0.5)]
    ));
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
