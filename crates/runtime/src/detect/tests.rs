use super::{detect, host_processor, machine, on_path};
use testgen_device::{DetectionPath, Device, DeviceIndex, Problem, Unusable};
use testgen_types::DeviceKind;

fn gpu(index: u32, unusable: bool) -> Device {
    let problem = Problem::new("libhiprtc.so is not found", "install it");
    Device {
        kind: DeviceKind::Rocm,
        path: DetectionPath::HipRuntime,
        index,
        name: "AMD Instinct MI300X".to_owned(),
        unusable: Unusable::from_problems(if unusable { vec![problem] } else { vec![] }),
        ..host_processor()
    }
}

#[test]
fn the_host_is_always_available() {
    let device = detect(DeviceKind::Cpu, DeviceIndex::Index(7)).expect("the host processor");
    assert_eq!((device.kind, device.path), (DeviceKind::Cpu, DetectionPath::HostProcessor));
    assert!(device.total_memory > Some(1 << 28), "{device:?}");
}

#[test]
fn an_ordinal_that_no_machine_has_is_unavailable_with_a_reason_for_each_path() {
    for (kind, paths) in [(DeviceKind::Cuda, 1), (DeviceKind::Rocm, 2)] {
        let unavailable = detect(kind, DeviceIndex::Index(4711)).expect_err("there is no such device");
        assert_eq!((unavailable.kind, unavailable.reasons.len()), (kind, paths), "{unavailable}");
        assert!(unavailable.reasons.iter().all(|reason| reason.len() > 20), "{unavailable}");
    }
}

#[test]
fn a_path_has_its_own_devices_only() {
    let mut machine = machine().clone();
    machine.devices = vec![host_processor(), gpu(0, false)];
    let device = on_path(&machine, DetectionPath::HipRuntime, DeviceKind::Rocm, DeviceIndex::Auto);
    assert_eq!(device, Ok(gpu(0, false)));
    let other = on_path(&machine, DetectionPath::CudaCompatibility, DeviceKind::Rocm, DeviceIndex::Auto);
    assert!(other.is_err_and(|unavailable| unavailable.reasons.len() == 1));
}

#[test]
fn a_device_that_burn_cannot_use_is_unavailable_with_its_reason() {
    let mut machine = machine().clone();
    machine.devices = vec![gpu(0, true), gpu(1, false)];
    let of = |index| on_path(&machine, DetectionPath::HipRuntime, DeviceKind::Rocm, index);
    assert_eq!(of(DeviceIndex::Auto).map(|device| device.index), Ok(1));
    let unavailable = of(DeviceIndex::Index(0)).expect_err("it is unusable");
    assert!(unavailable.to_string().contains("libhiprtc.so is not found: install it"), "{unavailable}");
    machine.devices.pop();
    let only_one = on_path(&machine, DetectionPath::HipRuntime, DeviceKind::Rocm, DeviceIndex::Auto);
    assert!(only_one.is_err_and(|unavailable| unavailable.to_string().contains("libhiprtc.so is not found")));
}
