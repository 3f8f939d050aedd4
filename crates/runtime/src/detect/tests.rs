use super::{detect, listed, listed_for_process, usable_of};
use crate::machine::{host_processor, machine};
use testgen_device::{
    DetectionPath, Device, DeviceIndex, DeviceProblem, EngineKind, Inventory, PciGpu,
    ReportedDevice, Unusable, Vendor, select,
};
use testgen_engine::EngineName;
use testgen_types::DeviceKind;

const ADDRESS: &str = "0000:03:00.0";

fn gpu(index: u32, unusable: bool) -> Device {
    let problem = DeviceProblem::new(
        "burn 0.21 does not support gfx950, and panics on it",
        "use another GPU",
    );
    Device {
        kind: DeviceKind::Rocm,
        path: DetectionPath::HipRuntime,
        index,
        name: "AMD Instinct MI355X".to_owned(),
        unusable_by_burn: Unusable::from_problems(if unusable { vec![problem] } else { vec![] }),
        ..host_processor()
    }
}

/// This machine with these devices, and without any list of the kernel's.
fn with_devices(devices: Vec<Device>) -> Inventory {
    let mut machine = machine().clone();
    (machine.devices, machine.topology) = (devices, testgen_device::Topology::default());
    machine
}

/// A machine whose kernel lists an AMD GPU, and on which no loader finds a HIP runtime.
fn with_wheels_only() -> Inventory {
    let mut machine = with_devices(vec![host_processor()]);
    machine.topology.pci = vec![PciGpu {
        address: ADDRESS.to_owned(),
        vendor: Vendor::Amd,
        driver: None,
    }];
    machine
}

fn reported(address: &str) -> Vec<ReportedDevice> {
    vec![ReportedDevice {
        kind: DeviceKind::Rocm,
        name: "AMD Instinct MI355X".to_owned(),
        architecture: Some("gfx950".to_owned()),
        total_memory: None,
        pci_address: Some(address.to_owned()),
        uuid: None,
    }]
}

#[test]
fn the_host_is_always_available() {
    let device = detect(
        DeviceKind::Cpu,
        DeviceIndex::Index(7),
        &EngineName::native(),
    )
    .expect("the host processor");
    assert_eq!(
        (device.kind, device.path),
        (DeviceKind::Cpu, DetectionPath::HostProcessor)
    );
    assert!(device.total_memory > Some(1 << 28), "{device:?}");
}

#[test]
fn an_ordinal_that_no_machine_has_is_unavailable_with_a_reason_for_each_path() {
    for (kind, paths) in [(DeviceKind::Cuda, 1), (DeviceKind::Rocm, 2)] {
        let absent = detect(kind, DeviceIndex::Index(4711), &EngineName::native());
        let unavailable = absent.expect_err("there is no such device");
        assert_eq!(
            (unavailable.kind, unavailable.reasons.len()),
            (kind, paths),
            "{unavailable}"
        );
        assert!(
            unavailable.reasons.iter().all(|reason| reason.len() > 20),
            "{unavailable}"
        );
    }
}

#[test]
fn a_path_has_its_own_devices_only() {
    let machine = with_devices(vec![host_processor(), gpu(0, false)]);
    assert_eq!(
        listed(&machine, DetectionPath::HipRuntime, DeviceKind::Rocm),
        Ok(vec![gpu(0, false)])
    );
    let other = listed(&machine, DetectionPath::CudaCompatibility, DeviceKind::Rocm);
    assert!(other.is_err_and(|unavailable| unavailable.reasons.len() == 1));
}

/// The engine is not asked for a device that this process lists itself.
#[test]
fn what_burn_lacks_concerns_the_native_engine_alone() {
    let machine = with_devices(vec![gpu(0, true)]);
    let path = DetectionPath::HipRuntime;
    let not_asked = || panic!("the engine is asked");
    let of_process =
        listed_for_process(&machine, path, DeviceKind::Rocm, not_asked).expect("it is listed");
    let selected = |devices, engine| select(devices, DeviceIndex::Auto, DeviceKind::Rocm, engine);
    assert_eq!(selected(of_process, EngineKind::Process), Ok(gpu(0, true)));
    let of_burn = listed(&machine, path, DeviceKind::Rocm).expect("it is listed");
    let why = selected(of_burn, EngineKind::Native)
        .expect_err("burn cannot use it")
        .to_string();
    assert!(
        why.contains(
            "rocm:0 (`AMD Instinct MI355X`) is unusable by burn: burn 0.21 does not support gfx950"
        ),
        "{why}"
    );
}

#[test]
fn an_unusable_device_does_not_hide_the_ones_after_it() {
    let listed = || {
        let twice = [gpu(2, false), gpu(0, true), gpu(1, false), gpu(2, false)];
        twice.into_iter().chain([host_processor()])
    };
    let indices = |engine| {
        let usable = usable_of(listed(), DeviceKind::Rocm, engine);
        usable.iter().map(|gpu| gpu.index).collect::<Vec<_>>()
    };
    assert_eq!(indices(EngineKind::Native), [1, 2]);
    assert_eq!(indices(EngineKind::Process), [0, 1, 2]);
}

#[test]
fn an_engine_lists_what_no_library_of_this_process_does() {
    let (machine, path) = (with_wheels_only(), DetectionPath::HipRuntime);
    let found = listed_for_process(&machine, path, DeviceKind::Rocm, || Ok(reported(ADDRESS)))
        .expect("it is listed");
    assert_eq!((found.len(), found[0].path), (1, DetectionPath::Engine));
    assert_eq!(found[0].pci_address.as_deref(), Some(ADDRESS));
    assert!(
        listed(&machine, path, DeviceKind::Rocm).is_err(),
        "burn has no such list"
    );
}

#[test]
fn an_engine_that_lists_nothing_adds_its_reason() {
    let (machine, path) = (with_wheels_only(), DetectionPath::HipRuntime);
    for (answer, expected) in [
        (
            Err("engine torch: it does not list its devices".to_owned()),
            "engine torch: it does not",
        ),
        (
            Ok(reported("0000:09:00.0")),
            "where the kernel lists no such GPU",
        ),
        (Ok(Vec::new()), "it lists no rocm device"),
    ] {
        let unavailable =
            listed_for_process(&machine, path, DeviceKind::Rocm, || answer).expect_err(expected);
        assert_eq!(unavailable.reasons.len(), 2, "{unavailable}");
        assert!(unavailable.reasons[1].contains(expected), "{unavailable}");
    }
}

/// It would be started on every machine without a GPU.
#[test]
fn no_engine_is_asked_without_a_gpu_in_the_lists_of_the_kernel() {
    let not_asked = || panic!("the engine is asked");
    let without = with_devices(vec![host_processor()]);
    assert!(
        listed_for_process(
            &without,
            DetectionPath::HipRuntime,
            DeviceKind::Rocm,
            not_asked
        )
        .is_err()
    );
    for path in [DetectionPath::CudaDriver, DetectionPath::CudaCompatibility] {
        assert!(
            listed_for_process(&with_wheels_only(), path, DeviceKind::Rocm, not_asked).is_err()
        );
    }
}
