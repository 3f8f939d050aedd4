//! The kernel's lists.

use crate::machine::Machine;
use testgen_device::{Vendor, kernel_topology};

#[test]
fn the_compute_list_is_read() {
    let topology = kernel_topology(
        &Machine::new()
            .kernel_amd(1, 3, 90402)
            .kernel_amd(10, 0x23, 110000)
            .system(),
    );
    let gpus = topology.kfd.clone().expect("there is a list");
    assert_eq!(
        gpus.iter().map(|gpu| gpu.node).collect::<Vec<_>>(),
        [1, 10],
        "the processor is not a GPU"
    );
    assert_eq!(
        (
            gpus[0].architecture.as_deref(),
            gpus[0].pci_address.as_deref()
        ),
        (Some("gfx942"), Some("0000:03:00.0"))
    );
    assert_eq!(
        (gpus[0].memory, gpus[0].uuid.as_deref()),
        (Some(206_141_652_992), Some("GPU-0000000000000003"))
    );
    assert_eq!(gpus[1].render_node.as_deref(), Some("renderD137"));
    assert!(topology.has(Vendor::Amd) && !topology.has(Vendor::Nvidia));
}

#[test]
fn the_bus_is_read_and_other_devices_are_ignored() {
    let machine = Machine::new()
        .pci("0000:00:02.0", "0x8086", "0x030000", "i915")
        .pci("0000:03:00.1", "0x1002", "0x040300", "snd_hda_intel")
        .pci("0000:03:00.0", "0x1002", "0x030000", "vfio-pci")
        .kernel_nvidia("0000:41:00.0");
    let topology = kernel_topology(&machine.system());
    let seen: Vec<_> = topology
        .pci
        .iter()
        .map(|gpu| (gpu.address.as_str(), gpu.vendor, gpu.driver.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            ("0000:03:00.0", Vendor::Amd, Some("vfio-pci")),
            ("0000:41:00.0", Vendor::Nvidia, Some("nvidia"))
        ]
    );
    assert_eq!(
        topology.nvidia.and_then(|module| module.version).as_deref(),
        Some("570.1.2")
    );
    assert_eq!(topology.kfd, None);
}

#[test]
fn cards_replace_a_hidden_bus() {
    let machine = Machine::new()
        .file("sys/class/drm/card0/device/vendor", "0x1002\n")
        .file(
            "sys/class/drm/card0/device/uevent",
            "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:0C:00.0\n",
        )
        .file("sys/class/drm/card0-DP-1/status", "connected\n");
    let topology = kernel_topology(&machine.system());
    assert_eq!(topology.vendor_at("0000:0c:00.0"), Some(Vendor::Amd));
    assert_eq!(topology.pci.len(), 1);
}

#[test]
fn an_unreadable_node_is_counted() {
    let machine = Machine::new()
        .kernel_amd(1, 3, 90402)
        .file("sys/class/kfd/kfd/topology/nodes/2/name", "hidden");
    assert_eq!(kernel_topology(&machine.system()).hidden_kfd_nodes, 1);
}
