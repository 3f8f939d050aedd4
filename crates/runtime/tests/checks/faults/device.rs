//! Faults of a harness: another device, another precision, missing marks.

use crate::{
    fixture::{Fixture, fixtures},
    harnesses::{
        bert::{self, request},
        on_host,
    },
};
use testgen_runtime::{
    Architecture, Checkpoint, Endpoint, Harness, LoadTarget, LoadedModel, Spec, host_processor,
    load, open, suite, task,
};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, Registration};

/// Asserts that `check` on `device` fails for a reason that contains `part`.
fn red(harness: &Harness, device: DeviceKind, check: Check, part: &str) {
    let record = suite::run_check(
        harness,
        Registration {
            device,
            check,
            precision: Precision::F32,
        },
        &fixtures(),
    );
    let reason = record.reason.unwrap_or_default();
    assert_eq!(
        record.status,
        EntryStatus::Fail,
        "{check} on {device} did not fail: {reason}"
    );
    assert!(
        reason.contains(part),
        "the reason of {check} does not contain `{part}`: {reason}"
    );
}

const fn harness(init_cpu: testgen_runtime::Init, init_rocm: testgen_runtime::Init) -> Harness {
    Harness {
        spec: &bert::SPEC,
        init_cpu,
        init_cuda: bert::init_cuda,
        init_rocm,
        request,
        skipped: &[],
    }
}

pub(crate) fn another_device() {
    static FAULT: Harness = harness(bert::init_cpu, bert::init_cpu);
    for check in [Check::Placement, Check::OutputGolden, Check::LoadKeysExact] {
        red(&FAULT, DeviceKind::Rocm, check, "the endpoint runs on cpu");
    }
}

/// The endpoint is built with the host processor as if it were the GPU.
pub(crate) fn another_device_in_disguise() {
    fn init_rocm(target: &LoadTarget) -> Endpoint {
        on_host(&bert::SPEC, target, DeviceKind::Rocm, task::text_embedding)
    }
    static FAULT: Harness = harness(bert::init_cpu, init_rocm);
    red(
        &FAULT,
        DeviceKind::Rocm,
        Check::Placement,
        "where `rocm` was asked for",
    );
}

pub(crate) fn another_precision() {
    fn init_cpu(target: &LoadTarget) -> Endpoint {
        let device = open(host_processor()).unwrap();
        let model = load(&bert::SPEC, &target.checkpoint, &device, Precision::Bf16).unwrap();
        Endpoint::real(
            DeviceKind::Cpu,
            LoadedModel::new(target, device, model),
            task::text_embedding,
        )
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(
        &FAULT,
        DeviceKind::Cpu,
        Check::Placement,
        "but f32 was requested",
    );
}

pub(crate) fn fallback_not_marked() {
    static FAULT: Harness = harness(bert::init_cpu, bert::init_cpu);
    red(
        &FAULT,
        DeviceKind::Rocm,
        Check::FallbackMarked,
        "rocm:9999 does not exist, but the endpoint is real",
    );
    red(
        &FAULT,
        DeviceKind::Rocm,
        Check::RequireHonoured,
        "expected ignored",
    );
    let sound = suite::run_check(
        &bert::HARNESS,
        Registration {
            device: DeviceKind::Rocm,
            check: Check::FallbackMarked,
            precision: Precision::F32,
        },
        &fixtures(),
    );
    assert_eq!(sound.status, EntryStatus::Pass, "{:?}", sound.reason);
    assert!(sound.fallback);
}

/// A harness that loads another checkpoint if it cannot load the requested one.
pub(crate) fn mock_not_marked() {
    fn init_cpu(target: &LoadTarget) -> Endpoint {
        bert::init_cpu(&LoadTarget {
            checkpoint: Some(Checkpoint::at(fixtures().join("bert"))),
            ..target.clone()
        })
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(
        &FAULT,
        DeviceKind::Cpu,
        Check::MockMarked,
        "the checkpoint does not exist, but the endpoint is real",
    );
}

/// A bidirectional model that is declared causal.
pub(crate) fn model_that_sees_the_future() {
    static SPEC: Spec = Spec {
        architecture: Architecture::DecoderOnly,
        ..bert::SPEC_VALUE
    };
    static FAULT: Harness = Harness {
        spec: &SPEC,
        ..harness(bert::init_cpu, bert::init_rocm)
    };
    red(
        &FAULT,
        DeviceKind::Cpu,
        Check::CausalLeak,
        "before position 1",
    );
    red(&FAULT, DeviceKind::Cpu, Check::KvCacheEquivalence, "cache");
}

pub(crate) fn panic() {
    fn init_cpu(_: &LoadTarget) -> Endpoint {
        panic!("the init function is broken")
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(
        &FAULT,
        DeviceKind::Cpu,
        Check::Finite,
        "the check panicked: the init function is broken",
    );
    let fixture = Fixture::new(&bert::HARNESS);
    fixture.stays_green(Check::Finite);
}
