use super::{DeviceExecutor, OpenError, OpenStep, open, open_on};
use crate::{
    endpoint::Endpoint, engine::AttachError, label::Label, load_target::InitError,
    log::capture_log, machine::host_processor,
};
use testgen_device::{DetectionPath, Device, DeviceProblem, Unusable};
use testgen_nn::{device::BackendDevice, forward::Unsupported};
use testgen_types::DeviceKind;

#[test]
fn the_host_opens_with_its_facts() {
    let device = open(host_processor()).expect("the CPU computes");
    assert!(matches!(
        device.executor,
        DeviceExecutor::Native(BackendDevice::Cpu(_))
    ));
    assert_eq!(device.facts(), &host_processor());
    assert!(!device.tf32());
}

#[test]
fn an_unusable_device_is_not_opened_and_its_warnings_are_logged() {
    let unusable_by_burn = Unusable::from_problems(vec![DeviceProblem::new(
        "`libamdhip64.so` lacks `hipMallocAsync`",
        "update ROCm",
    )]);
    let warnings = vec![DeviceProblem::new(
        "HSA_OVERRIDE_GFX_VERSION=`11.0.0` is set",
        "unset it",
    )];
    let (kind, path, index) = (DeviceKind::Rocm, DetectionPath::HipRuntime, 4711);
    let device = Device {
        kind,
        path,
        index,
        unusable_by_burn,
        warnings,
        ..host_processor()
    };
    let (opened, log) = capture_log(|| open(device));
    let error = opened.expect_err("it is unusable");
    assert_eq!(
        (error.step, error.device.as_str()),
        (OpenStep::Requirements, "rocm:4711")
    );
    assert!(
        error
            .to_string()
            .contains("lacks `hipMallocAsync`: update ROCm"),
        "{error}"
    );
    assert_eq!(
        log,
        ["rocm:4711: HSA_OVERRIDE_GFX_VERSION=`11.0.0` is set: unset it"]
    );
}

/// A check is ignored for that reason, and the message is the device's.
#[test]
fn a_device_that_an_engine_does_not_have_is_unsupported() {
    let mocked = |error: AttachError| {
        let error = InitError::from(OpenError::of_engine(&host_processor(), error));
        let mock = Endpoint::mock(
            &Label::new("bert", DeviceKind::Cpu),
            DeviceKind::Cpu,
            &error,
        );
        (
            mock.unsupported.clone(),
            mock.status().why().unwrap_or_default().to_owned(),
        )
    };
    let reason = || "this build has no ROCm".to_owned();
    let (unsupported, why) = mocked(AttachError::Unsupported(Unsupported(reason())));
    assert_eq!(unsupported, Some(reason()));
    assert!(
        why.contains("starting the engine failed: this build has no ROCm; docs/engines.md"),
        "{why}"
    );
    assert_eq!(why.matches("ROCm").count(), 1, "{why}");
    assert_eq!(mocked(AttachError::Failed(reason())), (None, why));
}

/// Its checks are ignored, although burn computes on the CPU.
#[test]
fn no_vendor_library_computes_on_the_cpu() {
    let engine = "native/vendor".parse().expect("is an engine");
    let error = open_on(&engine, host_processor()).expect_err("there is no library");
    let mock = Endpoint::mock(
        &Label::new("bert", DeviceKind::Cpu),
        DeviceKind::Cpu,
        &InitError::from(error),
    );
    assert_eq!(
        mock.unsupported.as_deref(),
        Some("no vendor's library computes on the CPU")
    );
}
