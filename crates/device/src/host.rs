//! The host processor: the only device that is always present.

use crate::device::{DetectionPath, Device};
use crate::system::System;
use testgen_types::DeviceKind;

/// The processor that this program runs on.
pub fn host_processor(system: &System) -> Device {
    let memory = memory_info(system);
    Device {
        kind: DeviceKind::Cpu,
        path: DetectionPath::HostProcessor,
        index: 0,
        name: model_name(system).unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH)),
        architecture: Some(std::env::consts::ARCH.to_owned()),
        total_memory: memory.map(|(_, total)| total),
        free_memory: memory.map(|(free, _)| free),
        pci_address: None,
        uuid: None,
        integrated: false,
        driver_version: None,
        runtime_version: None,
        simulated: false,
        unusable_by_burn: None,
        warnings: Vec::new(),
    }
}

/// Bytes available to a new program, and all bytes.
pub(crate) fn memory_info(system: &System) -> Option<(u64, u64)> {
    let text = system.read("/proc/meminfo")?;
    Some((
        // Not `MemFree`: caches that the kernel would drop are available, too.
        meminfo_bytes("MemAvailable:", &text)?,
        meminfo_bytes("MemTotal:", &text)?,
    ))
}

fn model_name(system: &System) -> Option<String> {
    let text = system.read("/proc/cpuinfo")?;
    // Processors of ARM have no such line.
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':')
        .map(|(_, name)| name.trim().to_owned())
        .filter(|name| !name.is_empty())
}

/// The bytes of a line of `/proc/meminfo`, whose unit is KiB.
fn meminfo_bytes(key: &str, text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}
