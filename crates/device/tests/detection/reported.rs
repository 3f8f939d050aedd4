//! Devices that an engine reports where this process has no HIP runtime, as with PyTorch's wheels.

use crate::machine::Machine;
use testgen_device::{DetectionPath, DeviceKind, ReportedDevice, confirmed, may_be_reported};

fn reported(kind: DeviceKind, address: &str) -> ReportedDevice {
    ReportedDevice {
        kind,
        name: "AMD Instinct MI355X".to_owned(),
        architecture: Some("gfx950:sramecc+:xnack-".to_owned()),
        total_memory: Some(288 << 30),
        pci_address: (!address.is_empty()).then(|| address.to_owned()),
        uuid: Some("81a38d5e".to_owned()),
    }
}

#[test]
fn a_device_that_the_kernel_lists_is_found_with_its_facts() {
    let machine = Machine::new()
        .kernel_amd(1, 3, 90500)
        .kernel_amd(2, 4, 90500);
    let topology = machine.inventory().topology;
    assert!(
        may_be_reported(&topology, DeviceKind::Rocm)
            && !may_be_reported(&topology, DeviceKind::Cuda)
    );
    let list = ["0000:09:00.0", "0000:03:00.0", "0000:04:00.0"]
        .map(|address| reported(DeviceKind::Rocm, address));
    let found = confirmed(&topology, DeviceKind::Rocm, &list).expect("two are listed");
    // The ordinals of the engine, also where a device before them is not confirmed.
    assert_eq!(
        found.iter().map(|device| device.index).collect::<Vec<_>>(),
        [1, 2]
    );
    let first = &found[0];
    assert_eq!(
        (first.kind, first.path),
        (DeviceKind::Rocm, DetectionPath::Engine)
    );
    assert_eq!(
        (first.architecture.as_deref(), first.total_memory),
        (Some("gfx950"), Some(288 << 30))
    );
    assert_eq!(
        (first.pci_address.as_deref(), first.uuid.as_deref()),
        (Some("0000:03:00.0"), Some("81a38d5e"))
    );
    assert!(!first.simulated && first.label() == "rocm:1");
}

/// The partitions of one MI300X have addresses that differ in the function, which torch does not
/// report.
#[test]
fn the_function_of_an_address_does_not_matter() {
    let machine = Machine::new().pci("0000:0c:00.3", "0x1002", "0x120000", "amdgpu");
    let list = [reported(DeviceKind::Rocm, "0000:0C:00.0")];
    assert!(confirmed(&machine.inventory().topology, DeviceKind::Rocm, &list).is_ok());
}

#[test]
fn an_engine_alone_proves_nothing() {
    let amd = Machine::new().kernel_amd(1, 3, 90500);
    let nvidia = Machine::new().kernel_nvidia("0000:03:00.0");
    let rocm = |address| vec![reported(DeviceKind::Rocm, address)];
    let rows = [
        (
            &amd,
            rocm("0000:09:00.0"),
            "`AMD Instinct MI355X` at 0000:09:00.0, where the kernel lists no such GPU",
        ),
        (&amd, rocm(""), "at no PCI address"),
        (
            &nvidia,
            rocm("0000:03:00.0"),
            "where the kernel lists no such GPU",
        ),
        (
            &amd,
            vec![reported(DeviceKind::Cuda, "0000:03:00.0")],
            "it lists no rocm device",
        ),
        (&amd, Vec::new(), "it lists no rocm device"),
    ];
    for (machine, list, expected) in rows {
        let why =
            confirmed(&machine.inventory().topology, DeviceKind::Rocm, &list).expect_err(expected);
        assert!(why.contains(expected), "{why}");
    }
    assert!(!may_be_reported(
        &Machine::new().inventory().topology,
        DeviceKind::Rocm
    ));
    assert!(!may_be_reported(
        &nvidia.inventory().topology,
        DeviceKind::Rocm
    ));
}
