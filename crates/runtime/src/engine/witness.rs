//! Evidence of the place where an engine computes, read by testgen itself: memory in use on the
//! device.

use std::path::Path;
use testgen_device::Device;
use testgen_engine::DeviceClass;
use testgen_nn::weights::stored_elements;
use testgen_types::{DeviceKind, Precision};

/// Memory that an engine may have reserved when it opened the device.
// It has the first block of its allocator, and workspaces.
pub(crate) const RESERVED: u64 = 64 << 20;

/// Memory in use on a GPU by all processes, as its driver reports it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryWitness {
    before: u64,
    opened: u64,
}

impl MemoryWitness {
    /// `before` the engine started, and now that it has opened the device. `None` for the host
    /// processor, whose memory every process uses, and if the driver reports nothing.
    pub(super) fn new(device: &Device, before: Option<u64>) -> Option<Self> {
        (device.kind != DeviceKind::Cpu).then_some(())?;
        Some(Self {
            before: before?,
            opened: in_use(device)?,
        })
    }

    /// Whether memory in use has grown since before the engine started.
    pub(super) fn has_grown(self) -> bool {
        // The context of any process takes hundreds of megabytes.
        self.opened > self.before
    }

    /// Whether memory in use has grown by `weights` bytes since it was `before` the load.
    pub(super) fn confirm(self, device: &Device, before: u64, weights: u64) -> Result<(), String> {
        // A driver that reports nothing does not contradict the engine.
        let Some(now) = in_use(device) else {
            return Ok(());
        };
        // Either moment is evidence that the weights can be on the device, because other processes
        // may free memory in between.
        if !self.has_grown() && now <= self.before {
            return Err(format!(
                "no memory of {} is in use by the engine",
                device.label()
            ));
        }
        // Weights may go into memory that was reserved earlier, so that its use grows by less.
        let grown = now.saturating_sub(before) + RESERVED;
        if grown < weights {
            return Err(format!(
                "the weights take {} MiB, memory in use on {} has grown by less than {} MiB",
                weights >> 20,
                device.label(),
                grown >> 20
            ));
        }
        Ok(())
    }
}

/// Bytes in use on `device` by all processes.
pub(super) fn in_use(device: &Device) -> Option<u64> {
    // A driver may report more free memory than there is in total.
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

/// The kind in the terms of the protocol.
pub(super) fn class(kind: DeviceKind) -> DeviceClass {
    match kind {
        DeviceKind::Cpu => DeviceClass::Cpu,
        DeviceKind::Cuda => DeviceClass::Cuda,
        DeviceKind::Rocm => DeviceClass::Rocm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::host_processor;

    #[test]
    fn weights_need_memory_of_the_device() {
        let host = host_processor();
        let used = in_use(&host).expect("the host reports its memory");
        let confirm = |before: u64, opened: u64, weights: u64| {
            MemoryWitness { before, opened }.confirm(&host, opened, weights)
        };
        assert_eq!(confirm(0, used / 2, 1 << 20), Ok(()));
        assert!(
            confirm(0, used, used.max(1 << 40)).is_err_and(|why| why.contains("has grown by less"))
        );
        // What was taken between opening the device and the load may belong to another engine.
        let before_load = MemoryWitness {
            before: 0,
            opened: 1,
        }
        .confirm(&host, used, used / 2 + RESERVED);
        assert!(before_load.is_err_and(|why| why.contains("has grown by less")));
        assert!(
            MemoryWitness {
                before: 1,
                opened: 2
            }
            .has_grown()
                && !MemoryWitness {
                    before: 2,
                    opened: 2
                }
                .has_grown()
        );
        assert!(confirm(u64::MAX, u64::MAX, 1).is_err_and(|why| why.contains("no memory")));
    }
}
