//! The memory of a GPU that the kernel's driver has given to one process.

use crate::pid_namespace;
use crate::system::System;
use crate::topology::kernel_topology;
use std::collections::BTreeMap;

/// Bytes of the process `pid` on the GPU at a PCI address: of the compute driver, else of the
/// process's open files.
pub(crate) fn process_memory(system: &System, address: &str, pid: u32) -> Option<u64> {
    of_compute_driver(system, address, pid).or_else(|| of_open_files(system, address, pid))
}

/// `/sys/class/kfd/kfd/proc/PID/vram_GPU` has bytes.
fn of_compute_driver(system: &System, address: &str, pid: u32) -> Option<u64> {
    if !pid_namespace::is_initial(system) {
        return None;
    }
    let topology = kernel_topology(system);
    // Its directories are named by the kernel's own ids, which another process may have in a
    // container.
    let mut nodes = topology
        .kfd_gpus()
        .filter(|gpu| gpu.pci_address.as_deref() == Some(address));
    // The partitions of one GPU have one address, and which of them is used is not known.
    let (Some(gpu), None) = (nodes.next(), nodes.next()) else {
        return None;
    };
    let id = system.read(format!(
        "/sys/class/kfd/kfd/topology/nodes/{}/gpu_id",
        gpu.node
    ))?;
    let bytes = system.read(format!("/sys/class/kfd/kfd/proc/{pid}/vram_{id}"))?;
    bytes.parse().ok()
}

/// The sum over the files of the GPU that the process has opened, as the kernel's documentation
/// describes their lines (`Documentation/gpu/drm-usage-stats.rst`).
fn of_open_files(system: &System, address: &str, pid: u32) -> Option<u64> {
    let directory = format!("/proc/{pid}/fdinfo");
    let texts = system
        .list(&directory)
        .into_iter()
        .filter_map(|name| system.read(format!("{directory}/{name}")));
    // A copy of a descriptor is the same client, whose memory counts once.
    let clients: BTreeMap<String, u64> = texts
        .filter_map(|text| {
            let same = value(&text, "drm-pdev")?.eq_ignore_ascii_case(address);
            let client = value(&text, "drm-client-id").filter(|_| same)?;
            Some((client.to_owned(), bytes(value(&text, "drm-memory-vram")?)?))
        })
        .collect();
    (!clients.is_empty()).then(|| clients.values().sum())
}

/// The value of a line `key: value`.
fn value<'text>(text: &'text str, key: &str) -> Option<&'text str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name == key).then(|| value.trim())
    })
}

/// `1024 KiB`; without a unit bytes.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let factor: u64 = match unit.trim() {
        "" => 1,
        // The units that the kernel's documentation permits.
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
