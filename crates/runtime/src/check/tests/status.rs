//! Endpoints whose status is not what a check asks for.

use super::{
    super::run::{Abort, CheckResult, CheckRun, CheckStatus, RecordedOutput, execute},
    Fault, OnHost,
    fixture::fixtures,
    harnesses::{self, LLAMA},
};
use crate::{
    engine::CheckEngine,
    golden::{Noise, RecordedTensor},
    tolerance::{DerivedThreshold, Threshold, Tolerance},
};
use testgen_nn::array::{Array, Arrays};
use testgen_types::{
    Architecture, Check, DeviceKind, EntryStatus, OutputError, Precision, Registration,
};

/// The reason of a failed check of a harness that knows no GPU, asked for one.
fn failure(check: Check, fault: Fault) -> String {
    let registration = Registration {
        device: DeviceKind::Rocm,
        check,
        precision: Precision::F32,
    };
    let entry = harnesses::report_entry(&LLAMA, registration, fault, &fixtures());
    let reason = entry.reason.unwrap_or_default();
    assert_eq!(entry.status, EntryStatus::Fail, "{reason}");
    reason
}

/// The fallback loads another checkpoint than the missing one: it has a device, but no model on the
/// device that was asked for.
#[test]
fn a_fallback_in_place_of_a_mock_is_detected() {
    let reason = failure(Check::MockMarked, Fault::OtherCheckpointLoaded);
    for part in [
        "but the endpoint is",
        "the mock returns a model or a device",
        "the mock answers Ok(Generations(",
    ] {
        assert!(reason.contains(part), "no `{part}` in: {reason}");
    }
}

/// The absent device must be the reason, and not the device that the endpoint runs on instead.
#[test]
fn a_failure_for_another_reason_does_not_honour_the_requirement() {
    let reason = failure(Check::RequireHonoured, Fault::FallbackNotMarked);
    let part =
        "with TESTGEN_REQUIRE=rocm an absent rocm is Fail { reason: \"the endpoint runs on cpu";
    assert!(reason.contains(part), "no `{part}` in: {reason}");
}

#[test]
fn a_panic_keeps_the_evidence_so_far() {
    let panics = |run: &mut CheckRun<'_>| -> CheckResult {
        run.evidence.device_name = Some("CPU".to_owned());
        panic!("after a device was opened")
    };
    let outcome = OnHost::for_architecture(Architecture::EncoderOnly)
        .run(|run| execute(panics, run.registration, run.harness, run.context));
    assert!(matches!(outcome.status, CheckStatus::Fail { .. }));
    assert_eq!(outcome.evidence.device_name.as_deref(), Some("CPU"));
    assert!(outcome.evidence.panicked);
}

/// Its numbers would be reported as the engine's.
#[test]
fn a_device_that_is_opened_without_the_engine_is_detected() {
    let loaded = OnHost::for_architecture(Architecture::EncoderOnly).run(|run| {
        run.engine = CheckEngine::new("scripted".parse().unwrap());
        run.subject_under_test().map(drop)
    });
    assert_eq!(
        loaded,
        Err(Abort::Fail(
            "the harness opened cpu:0 without the engine `scripted`".to_owned()
        ))
    );
}

/// A pass would say that the numbers agree, and a failure that they do not.
#[test]
fn an_output_that_the_reference_itself_does_not_reproduce_leaves_a_check_open() {
    let metadata = [(
        "noise.f32".to_owned(),
        "{\"logits\": [1e-4, 1e-4]}".to_owned(),
    )]
    .into();
    let noise = Noise::for_tests(&metadata);
    // A tensor of few elements has another unit where runs are compared.
    let outputs = |first: f32| {
        let mut values = vec![1.0; 64];
        values[0] = first;
        Array::floats([1, 64], values)
    };
    let status = |with_golden: bool, got: f32| {
        OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
            let (golden, name) = (run.golden()?, "logits");
            let tolerance = Tolerance::new(&noise, &[], Precision::F32, false);
            let (expected, got) = (outputs(1.0), outputs(got));
            let failure = if with_golden {
                let pair = (&RecordedTensor::Whole(expected), &got);
                run.compare_recorded("case.1.logits", &Arrays::new(), pair, (tolerance, name))
            } else {
                let output = RecordedOutput {
                    golden: &golden,
                    name,
                    tolerance,
                };
                run.compare_runs("sdpa against eager", output, &expected, &got)
            };
            Ok::<_, Abort>(run.status(failure.map_or(Ok(None), |reason| Err(Abort::Fail(reason)))))
        })
    };
    let reason =
        "the reference's own error of `logits` is above the largest threshold of this precision"
            .to_owned();
    let ignored = CheckStatus::Ignored { reason };
    for with_golden in [true, false] {
        let passed = CheckStatus::Pass { summary: None };
        assert_eq!(status(with_golden, 1.0), Ok(passed));
        assert_eq!(status(with_golden, 1.0 + 2e-4), Ok(ignored.clone()));
        assert!(matches!(
            status(with_golden, 1.0 + 2e-3),
            Ok(CheckStatus::Fail { .. })
        ));
    }
}

/// A probability that is off by more than the largest threshold, as the recorded noise may be.
#[test]
fn probabilities_between_the_ceiling_and_their_noise_leave_a_check_open() {
    let threshold = |error| Threshold {
        rel_l2: error,
        max_rel: error,
    };
    let threshold = DerivedThreshold {
        capped: threshold(0.125),
        uncapped: threshold(0.5),
    };
    let status = |got: f32| {
        OnHost::for_architecture(Architecture::Rag).run(|run| {
            let [expected, got] = [0.5, got].map(|value| Array::floats([1], vec![value]));
            let failure = run.compare_probabilities("probabilities", &expected, &got, threshold);
            run.status(failure.map_or(Ok(None), |reason| Err(Abort::Fail(reason))))
        })
    };
    assert_eq!(status(0.5625), CheckStatus::Pass { summary: None });
    for open in [0.625, 0.25] {
        assert!(matches!(status(open), CheckStatus::Ignored { .. }));
    }
    for wrong in [0.875, 0.125, f32::NAN] {
        assert!(matches!(status(wrong), CheckStatus::Fail { .. }));
    }
}

/// A check that ends as ignored, for instance because its second sequence is too short.
#[test]
fn wrong_numbers_are_not_ignored() {
    let status = |headroom: f64| {
        OnHost::for_architecture(Architecture::DecoderOnly).run(|run| {
            let output = OutputError::with_headroom("logits".to_owned(), headroom);
            run.evidence.add(output);
            run.status(Err(Abort::Skip("the text is too short".to_owned())))
        })
    };
    let reason = "the text is too short".to_owned();
    assert_eq!(status(1.0), CheckStatus::Ignored { reason });
    let reason = "outputs are wrong, although the text is too short".to_owned();
    assert_eq!(status(0.5), CheckStatus::Fail { reason });
}
