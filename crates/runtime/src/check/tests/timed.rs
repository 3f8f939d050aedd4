//! Times of fixtures: what agrees with its reference has them, and a fault, a fallback and a mock
//! have none. No test depends on how long anything takes.

use super::{
    faulty::Fault,
    fixture::fixtures,
    harnesses::{self, BERT, LLAMA, T5, VIT},
};
use crate::harness::Harness;
use testgen_types::{
    Architecture, BenchEntry, BenchRequest, BenchStatus, Check, DeviceKind, Measured, Precision,
    Registration, Repetitions,
};

const REPETITIONS: Repetitions = Repetitions {
    warmup: 1,
    iterations: 3,
    min_time_ms: 0,
};

fn request() -> BenchRequest {
    BenchRequest {
        subjects: Vec::new(),
        precisions: Vec::new(),
        batches: vec![1, 2],
        tokens: vec![5],
        steps: 4,
        repetitions: REPETITIONS,
    }
}

fn measured(harness: &Harness, device: DeviceKind, fault: Fault) -> Vec<BenchEntry> {
    measured_in(&request(), harness, device, fault)
}

fn measured_in(
    request: &BenchRequest,
    harness: &Harness,
    device: DeviceKind,
    fault: Fault,
) -> Vec<BenchEntry> {
    let registration = Registration {
        device,
        check: match harness.spec.architecture {
            Architecture::Operators => Check::Forward,
            _ => Check::OutputGolden,
        },
        precision: Precision::F32,
    };
    harnesses::measured(harness, registration, fault, (request, &fixtures()))
}

/// The work, the batch, the tokens and the number of times of each entry.
fn shape(entries: &[BenchEntry]) -> Vec<(Measured, Option<usize>, Option<usize>, usize)> {
    let shape = |entry: &BenchEntry| {
        let times = entry.times.as_ref().unwrap_or_else(|| panic!("{entry:?}"));
        (
            entry.measured.unwrap(),
            entry.batch,
            entry.tokens,
            times.milliseconds.len(),
        )
    };
    entries.iter().map(shape).collect()
}

/// Asserts that there is one reason and no time.
fn no_time(entries: &[BenchEntry], status: BenchStatus, part: &str) {
    assert!(!entries.is_empty());
    for entry in entries {
        assert_eq!((entry.status, &entry.times), (status, &None), "{entry:?}");
        let reason = entry.reason.as_deref().unwrap();
        assert!(reason.contains(part), "no `{part}` in: {reason}");
    }
}

#[test]
fn load_first_answer_and_every_size_are_timed() {
    let entries = measured(&BERT, DeviceKind::Cpu, Fault::None);
    let expected = [
        (Measured::Load, None, None, 1),
        (Measured::FirstAnswer, None, None, 1),
        (Measured::Forward, Some(1), Some(5), 3),
        (Measured::Forward, Some(2), Some(5), 3),
    ];
    assert_eq!(shape(&entries), expected);
    for entry in &entries {
        let times = entry.times.as_ref().unwrap();
        assert!(0.0 < times.p5 && times.p5 <= times.median && times.median <= times.p95);
        let device = entry.device_facts.as_ref().unwrap();
        assert!(!device.name.is_empty() && !device.simulated);
        let host = entry.host.as_ref().expect("it was measured here");
        assert!(!host.processor.is_empty() && entry.config.is_some());
        assert_eq!((&entry.engine, entry.precision), (&None, Precision::F32));
    }
    let [load, first] = [&entries[0], &entries[1]].map(|it| it.times.as_ref().unwrap().median);
    assert!(load < first, "the first answer includes the load");
}

#[test]
fn a_model_that_generates_has_a_prompt_and_steps() {
    for harness in [&LLAMA, &T5] {
        let entries = measured(harness, DeviceKind::Cpu, Fault::None);
        let of_first_batch = [
            (Measured::Forward, Some(1), Some(5), 3),
            (Measured::Prefill, Some(1), Some(5), 3),
            (Measured::Decode, Some(1), Some(5), 12),
        ];
        assert_eq!(shape(&entries)[2..5], of_first_batch);
    }
}

#[test]
fn inputs_of_a_fixed_size_have_no_tokens() {
    let entries = measured(&VIT, DeviceKind::Cpu, Fault::None);
    let forward = [1, 2].map(|batch| (Measured::Forward, Some(batch), None, 3));
    assert_eq!(shape(&entries)[2..], forward);
}

#[test]
fn more_tokens_than_the_model_reads_are_not_timed() {
    let request = BenchRequest {
        tokens: vec![5, 100_000],
        batches: vec![1],
        ..request()
    };
    let entries = measured_in(&request, &BERT, DeviceKind::Cpu, Fault::None);
    assert_eq!(shape(&entries[..3])[2].2, Some(5));
    no_time(
        &entries[3..],
        BenchStatus::NotTimed,
        "100000 tokens, and the model reads",
    );
    assert_eq!(entries[3].measured, Some(Measured::Forward));
}

#[test]
fn every_architecture_is_timed() {
    for &architecture in Architecture::ALL {
        let harness = harnesses::for_architecture(architecture);
        let entries = measured(harness, DeviceKind::Cpu, Fault::None);
        let timed = entries.iter().filter(|entry| entry.times.is_some()).count();
        assert!(timed > 3, "{architecture}: {entries:?}");
        let wrong = entries
            .iter()
            .find(|entry| entry.status == BenchStatus::Wrong);
        assert_eq!(wrong, None, "{architecture}");
    }
}

#[test]
fn a_wrong_result_has_no_time() {
    let entries = measured(&BERT, DeviceKind::Cpu, Fault::OutputOff);
    no_time(&entries, BenchStatus::Wrong, "furthest off at [");
    let operators = harnesses::for_architecture(Architecture::Operators);
    let entries = measured(operators, DeviceKind::Cpu, Fault::OutputOff);
    no_time(&entries, BenchStatus::Wrong, "elements are wrong");
    assert!(entries.iter().all(|entry| entry.case.is_some()));
}

#[test]
fn a_fallback_and_a_mock_have_no_time() {
    let fallback = measured(&BERT, DeviceKind::Rocm, Fault::None);
    no_time(
        &fallback,
        BenchStatus::NotTimed,
        "this harness knows no GPU",
    );
    let unmarked = measured(&BERT, DeviceKind::Cuda, Fault::FallbackNotMarked);
    no_time(&unmarked, BenchStatus::Wrong, "runs on cpu");
    let request = request();
    let registration = Registration {
        device: DeviceKind::Cpu,
        check: Check::OutputGolden,
        precision: Precision::F16,
    };
    let fault = Fault::HalfPrecisionRefused;
    let mock = harnesses::measured(&BERT, registration, fault, (&request, &fixtures()));
    no_time(&mock, BenchStatus::Wrong, "mock");
}
