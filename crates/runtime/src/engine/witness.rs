//! Evidence of the place where an engine computes, read by testgen itself: the identity of the device, and memory in use on it.

use std::path::Path;
use testgen_device::Device;
use testgen_engine::{DeviceClass, OpenedDevice};
use testgen_nn::weights::stored_elements;
use testgen_types::{DeviceKind, Precision};

/// Memory that an engine may have reserved when it opened the device: the first block of its allocator, and workspaces.
const RESERVED: u64 = 64 << 20;

/// Memory in use on a GPU by all processes, as its driver reports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryWitness {
    before: u64,
    opened: u64,
}

impl MemoryWitness {
    /// `before` the engine started, and now that it has opened the device. None for the host processor, whose memory every process
    /// uses, and where the driver reports nothing.
    pub(super) fn new(device: &Device, before: Option<u64>) -> Option<Self> {
        (device.kind != DeviceKind::Cpu).then_some(())?;
        Some(Self { before: before?, opened: in_use(device)? })
    }

    /// Whether memory in use has grown by `weights` bytes, so that they can be on the device.
    pub(super) fn confirm(self, device: &Device, weights: u64) -> Result<(), String> {
        let Some(now) = in_use(device) else { return Ok(()) };
        // The context of any process takes hundreds of megabytes.
        if self.opened <= self.before && now <= self.before {
            return Err(format!("no memory of {} is in use by the engine", device.label()));
        }
        let grown = now.saturating_sub(self.opened) + RESERVED;
        if grown < weights {
            let mib = |bytes: u64| bytes >> 20;
            return Err(format!(
                "the weights take {} MiB, memory in use on {} has grown by less than {} MiB",
                mib(weights),
                device.label(),
                mib(grown)
            ));
        }
        Ok(())
    }
}

/// Bytes in use on `device` by all processes.
pub(super) fn in_use(device: &Device) -> Option<u64> {
    testgen_device::memory(device).map(|(free, total)| total.saturating_sub(free))
}

/// The bytes of the tensors `names` of a checkpoint in `precision`.
pub(super) fn bytes_of(directory: &Path, names: &[String], precision: Precision) -> u64 {
    let element = match precision {
        Precision::F32 | Precision::Tf32 => 4,
        Precision::F16 | Precision::Bf16 => 2,
    };
    stored_elements(directory, names).saturating_mul(element)
}

/// Why `opened` is not `device`; none when it is, by UUID or by PCI address.
pub(super) fn other_device(device: &Device, opened: &OpenedDevice) -> Option<String> {
    if opened.kind != class(device.kind) {
        return Some(format!("it reports a device of another kind, `{}`", opened.name));
    }
    if device.kind == DeviceKind::Cpu {
        return None;
    }
    let pairs = [(&device.uuid, &opened.uuid), (&device.pci_address, &opened.pci_address)];
    let mut known = pairs.into_iter().filter_map(|(ours, its)| Some((plain(ours.as_ref()?), plain(its.as_ref()?))));
    let described = |uuid: &Option<String>, address: &Option<String>| {
        let parts: Vec<&str> = [uuid, address].into_iter().flatten().map(String::as_str).collect();
        if parts.is_empty() { "neither a UUID nor a PCI address".to_owned() } else { parts.join(", ") }
    };
    // One identity that agrees is enough: libraries differ in the bytes of a UUID that they print.
    if known.any(|(ours, its)| ours == its) {
        return None;
    }
    let (ours, its) = (described(&device.uuid, &device.pci_address), described(&opened.uuid, &opened.pci_address));
    Some(format!("it reports `{}` with {its}, {} (`{}`) has {ours}", opened.name, device.label(), device.name))
}

/// The kind in the terms of the protocol.
pub(super) fn class(kind: DeviceKind) -> DeviceClass {
    match kind {
        DeviceKind::Cpu => DeviceClass::Cpu,
        DeviceKind::Cuda => DeviceClass::Cuda,
        DeviceKind::Rocm => DeviceClass::Rocm,
    }
}

/// An identifier without the characters that libraries write differently.
fn plain(identifier: &str) -> String {
    let lower = identifier.to_ascii_lowercase();
    lower.trim_start_matches("gpu-").replace('-', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::host_processor;

    fn gpu(kind: DeviceKind) -> Device {
        let uuid = Some("GPU-81a38d5e-4d1e-5bc5-8f9f-1a2b3c4d5e6f".to_owned());
        Device { kind, uuid, pci_address: Some("0000:03:00.0".to_owned()), ..host_processor() }
    }

    fn opened(kind: DeviceClass, uuid: Option<&str>, address: Option<&str>) -> OpenedDevice {
        let text = |text: Option<&str>| text.map(str::to_owned);
        OpenedDevice { kind, name: "gpu".to_owned(), uuid: text(uuid), pci_address: text(address) }
    }

    #[test]
    fn a_device_is_the_same_by_uuid_or_address() {
        let (cuda, rocm) = (gpu(DeviceKind::Cuda), gpu(DeviceKind::Rocm));
        let same = "81A38D5E4D1E5BC58F9F1A2B3C4D5E6F";
        assert_eq!(other_device(&cuda, &opened(DeviceClass::Cuda, Some(same), None)), None);
        assert_eq!(other_device(&cuda, &opened(DeviceClass::Cuda, None, Some("0000:03:00.0"))), None);
        for other in [
            opened(DeviceClass::Cuda, None, None),
            opened(DeviceClass::Cuda, Some("GPU-00000000-4d1e-5bc5-8f9f-1a2b3c4d5e6f"), None),
            opened(DeviceClass::Cuda, Some("GPU-00"), Some("0000:04:00.0")),
            opened(DeviceClass::Cpu, Some(same), None),
        ] {
            assert!(other_device(&cuda, &other).is_some(), "{other:?}");
        }
        assert!(other_device(&rocm, &opened(DeviceClass::Cuda, Some(same), None)).is_some());
        assert_eq!(other_device(&host_processor(), &opened(DeviceClass::Cpu, None, None)), None);
    }

    #[test]
    fn weights_need_memory_of_the_device() {
        let host = host_processor();
        let used = in_use(&host).expect("the host reports its memory");
        let confirm = |before: u64, opened: u64, weights: u64| MemoryWitness { before, opened }.confirm(&host, weights);
        assert_eq!(confirm(0, used / 2, 1 << 20), Ok(()));
        assert!(confirm(0, used, used.max(1 << 40)).is_err_and(|why| why.contains("has grown by less")));
        assert!(confirm(u64::MAX, u64::MAX, 1).is_err_and(|why| why.contains("no memory")));
    }
}
