use super::{BackendDevice, OpenStep, open, time_limit};
use crate::detect::host_processor;
use std::time::Duration;
use testgen_contract::DeviceKind;
use testgen_device::{DetectionPath, Device, Problem, Unusable};

#[test]
fn the_host_opens_and_keeps_its_facts() {
    let device = open(host_processor()).expect("the CPU computes");
    assert!(matches!(device.backend, BackendDevice::Cpu(_)));
    assert_eq!(device.facts(), &host_processor());
    assert!(!device.tf32());
}

#[test]
fn an_unusable_device_is_not_touched() {
    let unusable =
        Unusable::from_problems(vec![Problem::new("`libamdhip64.so` lacks `hipMallocAsync`", "update ROCm")]);
    let device =
        Device { kind: DeviceKind::Rocm, path: DetectionPath::HipRuntime, index: 4711, unusable, ..host_processor() };
    let error = open(device).expect_err("it is unusable");
    assert_eq!((error.step, error.device.as_str()), (OpenStep::Requirements, "rocm:4711"));
    assert!(error.to_string().contains("lacks `hipMallocAsync`: update ROCm"), "{error}");
}

#[test]
fn the_time_limit_is_a_positive_number_of_seconds() {
    assert_eq!(time_limit(Some("7")), Duration::from_secs(7));
    for nonsense in [None, Some(""), Some("0"), Some("-1"), Some("soon")] {
        assert_eq!(time_limit(nonsense), Duration::from_secs(120), "{nonsense:?}");
    }
}
