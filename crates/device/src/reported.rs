//! Devices that an engine reports, where this process cannot open the library that lists them.
//!
//! PyTorch's wheels contain a private HIP runtime, which no loader finds. An engine could report
//! anything, so a device counts only if the kernel lists a GPU of its vendor at its PCI address.

use crate::device::{DetectionPath, Device};
use crate::topology::Topology;
use crate::vendor::Vendor;
use testgen_types::DeviceKind;

/// A device of an engine, as its own library reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedDevice {
    /// Its kind.
    pub kind: DeviceKind,
    /// Its name.
    pub name: String,
    /// `gfx942`, also with features: `gfx942:sramecc+:xnack-`.
    pub architecture: Option<String>,
    /// Total memory in bytes.
    pub total_memory: Option<u64>,
    /// `0000:03:00.0`.
    pub pci_address: Option<String>,
    /// Its UUID, in any form.
    pub uuid: Option<String>,
}

/// Whether the kernel lists a GPU that an engine may have and this process may not: asking an
/// engine takes seconds.
pub fn may_be_reported(topology: &Topology, kind: DeviceKind) -> bool {
    vendor(kind).is_some_and(|vendor| topology.has(vendor))
}

/// The devices of `kind` among `reported`, in the order of the engine's ordinals, that the kernel
/// lists, too.
///
/// # Errors
///
/// There is none; the reason.
pub fn confirmed(
    topology: &Topology,
    kind: DeviceKind,
    reported: &[ReportedDevice],
) -> Result<Vec<Device>, String> {
    let path = DetectionPath::Engine;
    let of_kind = || {
        // Numbered before the filter, because an engine's ordinal counts all its devices.
        (0..)
            .zip(reported)
            .filter(|(_, reported)| reported.kind == kind)
    };
    if of_kind().next().is_none() {
        return Err(format!("{path}: it lists no {kind} device"));
    }
    let (listed, others): (Vec<_>, Vec<_>) =
        of_kind().partition(|(_, reported)| is_listed(topology, reported));
    if listed.is_empty() {
        let others: Vec<String> = others
            .iter()
            .map(|(_, reported)| {
                format!(
                    "`{}` at {}",
                    reported.name,
                    reported.pci_address.as_deref().unwrap_or("no PCI address")
                )
            })
            .collect();
        return Err(format!(
            "{path}: it lists {}, where the kernel lists no such GPU",
            others.join(", ")
        ));
    }
    Ok(listed
        .into_iter()
        .map(|(index, reported)| device(topology, index, reported))
        .collect())
}

fn vendor(kind: DeviceKind) -> Option<Vendor> {
    match kind {
        DeviceKind::Cpu => None,
        DeviceKind::Cuda => Some(Vendor::Nvidia),
        DeviceKind::Rocm => Some(Vendor::Amd),
    }
}

/// Whether the kernel lists a GPU of the vendor there.
fn is_listed(topology: &Topology, reported: &ReportedDevice) -> bool {
    // Partitions of one GPU differ in the function of the address, which engines do not report.
    let Some(address) = reported.pci_address.as_deref().map(slot) else {
        return false;
    };
    let on_bus = topology
        .pci
        .iter()
        .filter(|gpu| Some(gpu.vendor) == vendor(reported.kind))
        .map(|gpu| &gpu.address);
    let computing = topology
        .kfd_gpus()
        .filter(|_| reported.kind == DeviceKind::Rocm);
    on_bus
        .chain(computing.filter_map(|gpu| gpu.pci_address.as_ref()))
        .any(|listed| slot(listed) == address)
}

/// A PCI address without its function, in lower case as in the topology.
fn slot(address: &str) -> String {
    address
        .rsplit_once('.')
        .map_or(address, |(slot, _)| slot)
        .to_lowercase()
}

fn device(topology: &Topology, index: u32, reported: &ReportedDevice) -> Device {
    let architecture = reported
        .architecture
        .as_deref()
        .and_then(|name| name.split(':').next())
        .map(str::to_lowercase);
    Device {
        kind: reported.kind,
        path: DetectionPath::Engine,
        index,
        name: reported.name.clone(),
        architecture,
        total_memory: reported.total_memory,
        // Only the library of the engine knows it, which this process cannot open.
        free_memory: None,
        pci_address: reported.pci_address.clone(),
        uuid: reported.uuid.clone(),
        integrated: false,
        driver_version: topology.amdgpu_version.clone(),
        runtime_version: None,
        simulated: reported.name.contains("(hip-sim)"),
        unusable_by_burn: None,
        warnings: Vec::new(),
    }
}
