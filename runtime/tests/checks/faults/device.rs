//! Faults of a harness: another device, another precision, marks that are missing.

use crate::{
    fixture::{Fixture, fixtures},
    harnesses::{bert, on_host},
};
use testgen_contract::{Check, DeviceKind, Precision, RecordStatus};
use testgen_runtime::{
    Architecture, Checkpoint, DeviceRequest, Endpoint, Harness, Registered, Spec, host_processor, load, open, suite,
    task,
};

/// Asserts that `check` on `device` is red and says `part`.
fn red(harness: &Harness, device: DeviceKind, check: Check, part: &str) {
    let record = suite::record(harness, Registered::run(device, check, Precision::F32), &fixtures());
    let reason = record.reason.unwrap_or_default();
    assert_eq!(record.status, RecordStatus::Fail, "{check} on {device} is not red: {reason}");
    assert!(reason.contains(part), "{check} does not say `{part}`: {reason}");
}

const fn harness(init_cpu: testgen_runtime::Init, init_rocm: testgen_runtime::Init) -> Harness {
    Harness { spec: &bert::SPEC, init_cpu, init_cuda: bert::init_cuda, init_rocm, checks: &[] }
}

pub(crate) fn another_device() {
    static FAULT: Harness = harness(bert::init_cpu, bert::init_cpu);
    for check in [Check::Placement, Check::OutputGolden, Check::LoadKeysExact] {
        red(&FAULT, DeviceKind::Rocm, check, "the endpoint runs on cpu");
    }
}

/// The host processor handed to the endpoint as if it were the GPU.
pub(crate) fn another_device_in_disguise() {
    fn init_rocm(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
        on_host(&bert::SPEC, checkpoint, request, label, DeviceKind::Rocm, task::text_embedding)
    }
    static FAULT: Harness = harness(bert::init_cpu, init_rocm);
    red(&FAULT, DeviceKind::Rocm, Check::Placement, "where `rocm` was asked for");
}

pub(crate) fn another_precision() {
    fn init_cpu(checkpoint: &Checkpoint, _: &DeviceRequest, label: &str) -> Endpoint {
        let device = open(host_processor()).unwrap();
        let model = load(&bert::SPEC, checkpoint, &device, Precision::Bf16).unwrap();
        Endpoint::real(label, DeviceKind::Cpu, device, model, task::text_embedding)
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(&FAULT, DeviceKind::Cpu, Check::Placement, "asked for was f32");
}

pub(crate) fn fallback_not_marked() {
    static FAULT: Harness = harness(bert::init_cpu, bert::init_cpu);
    red(&FAULT, DeviceKind::Rocm, Check::FallbackMarked, "rocm:9999 is never there, and the endpoint is real");
    red(&FAULT, DeviceKind::Rocm, Check::RequireHonoured, "expected ignored");
    let sound = suite::record(
        &bert::HARNESS,
        Registered::run(DeviceKind::Rocm, Check::FallbackMarked, Precision::F32),
        &fixtures(),
    );
    assert_eq!(sound.status, RecordStatus::Pass, "{:?}", sound.reason);
    assert!(sound.fallback);
}

/// A harness that loads something else when it cannot load what it was asked for.
pub(crate) fn mock_not_marked() {
    fn init_cpu(_: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
        bert::init_cpu(&Checkpoint::at(fixtures().join("bert")), request, label)
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(&FAULT, DeviceKind::Cpu, Check::MockMarked, "the checkpoint does not exist, and the endpoint is real");
}

/// A bidirectional model declared as a causal one.
pub(crate) fn model_that_sees_the_future() {
    static SPEC: Spec = Spec { architecture: Architecture::DecoderOnly, ..bert::SPEC_VALUE };
    static FAULT: Harness = Harness { spec: &SPEC, ..harness(bert::init_cpu, bert::init_rocm) };
    red(&FAULT, DeviceKind::Cpu, Check::CausalLeak, "before position 1");
    red(&FAULT, DeviceKind::Cpu, Check::KvCacheEquivalence, "cache");
}

pub(crate) fn panic() {
    fn init_cpu(_: &Checkpoint, _: &DeviceRequest, _: &str) -> Endpoint {
        panic!("the init function is broken")
    }
    static FAULT: Harness = harness(init_cpu, bert::init_rocm);
    red(&FAULT, DeviceKind::Cpu, Check::Finite, "the check panicked: the init function is broken");
    let fixture = Fixture::of(&bert::HARNESS);
    fixture.stays_green(Check::Finite);
}
