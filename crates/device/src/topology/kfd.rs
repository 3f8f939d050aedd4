//! The compute driver's list of GPUs: `/sys/class/kfd/kfd/topology/nodes`.

use crate::system::System;
use serde::Serialize;
use std::collections::BTreeMap;

const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

/// One GPU of the `amdgpu` compute driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KfdGpu {
    /// The directory's number.
    pub node: u32,
    /// `gfx942`.
    pub architecture: Option<String>,
    /// `0000:03:00.0`.
    pub pci_address: Option<String>,
    /// `GPU-` and 16 hexadecimal digits, the form that `ROCR_VISIBLE_DEVICES` accepts.
    pub uuid: Option<String>,
    /// Device memory in bytes.
    pub memory: Option<u64>,
    /// Its file below `/dev/dri`, which the runtime must be able to open: `renderD128`.
    pub render_node: Option<String>,
}

impl KfdGpu {
    pub(crate) fn describe(&self) -> String {
        let architecture = self
            .architecture
            .as_deref()
            .unwrap_or("unknown architecture");
        let address = self.pci_address.as_deref().unwrap_or("an unknown address");
        format!("{architecture} at {address}")
    }
}

/// The GPUs, and how many nodes could not be read; `None` when there is no list.
pub(super) fn gpus(system: &System) -> (Option<Vec<KfdGpu>>, u32) {
    if !system.path(NODES).is_dir() {
        return (None, 0);
    }
    let mut gpus = Vec::new();
    let mut hidden = 0;
    for name in system.list(NODES) {
        let Ok(node) = name.parse() else { continue };
        match system.read(format!("{NODES}/{name}/properties")) {
            Some(text) => gpus.extend(gpu(system, node, &properties(&text))),
            None => hidden += 1,
        }
    }
    (Some(gpus), hidden)
}

fn properties(text: &str) -> BTreeMap<&str, u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(key, value)| Some((key, value.trim().parse().ok()?)))
        .collect()
}

/// `None` for a host processor: its SIMD count is zero in this list.
fn gpu(system: &System, node: u32, properties: &BTreeMap<&str, u64>) -> Option<KfdGpu> {
    // The kernel writes 0 for a property that a node does not have.
    let value = |key: &str| properties.get(key).copied().filter(|value| *value != 0);
    value("simd_count")?;
    Some(KfdGpu {
        node,
        architecture: value("gfx_target_version").map(architecture_name),
        pci_address: value("location_id")
            .map(|location| pci_address(value("domain").unwrap_or(0), location)),
        uuid: value("unique_id").map(|id| format!("GPU-{id:016x}")),
        memory: memory(system, node).or_else(|| value("local_mem_size")),
        render_node: value("drm_render_minor").map(|minor| format!("renderD{minor}")),
    })
}

/// 90402 is gfx942 and 90010 gfx90a: minor and stepping have two decimal digits each, and one
/// hexadecimal digit each in the name.
fn architecture_name(version: u64) -> String {
    format!(
        "gfx{}{:x}{:x}",
        version / 10_000,
        version / 100 % 100,
        version % 100
    )
}

/// `location_id` has the bus in bits 8 to 15, the device in 3 to 7 and the function in 0 to 2.
fn pci_address(domain: u64, location: u64) -> String {
    format!(
        "{domain:04x}:{:02x}:{:02x}.{:x}",
        location >> 8 & 0xff,
        location >> 3 & 0x1f,
        location & 7
    )
}

/// The sum over the banks of frame buffer memory, heap types 1 (visible to the host) and 2 (not
/// visible).
fn memory(system: &System, node: u32) -> Option<u64> {
    let directory = format!("{NODES}/{node}/mem_banks");
    let sizes: Vec<u64> = system
        .list(&directory)
        .iter()
        .filter_map(|name| {
            let text = system.read(format!("{directory}/{name}/properties"))?;
            let properties = properties(&text);
            matches!(properties.get("heap_type"), Some(1 | 2))
                .then(|| properties.get("size_in_bytes").copied())
                .flatten()
        })
        .collect();
    (!sizes.is_empty()).then(|| sizes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::{architecture_name, pci_address};

    #[test]
    fn target_versions_become_names() {
        for (version, name) in [
            (90402, "gfx942"),
            (90010, "gfx90a"),
            (110000, "gfx1100"),
            (100306, "gfx1036"),
            (90008, "gfx908"),
            (120001, "gfx1201"),
        ] {
            assert_eq!(architecture_name(version), name);
        }
    }

    #[test]
    fn locations_become_addresses() {
        assert_eq!(pci_address(0, 0x0300), "0000:03:00.0");
        assert_eq!(pci_address(1, 0xc1 << 8 | 0x1f << 3 | 7), "0001:c1:1f.7");
    }
}
