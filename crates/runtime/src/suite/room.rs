//! The room that a check needs for itself while it runs.

use super::devices::Devices;
use crate::harness::Harness;
use std::path::Path;
use testgen_engine::EngineName;
use testgen_nn::weights::element_count;
use testgen_types::{Check, DeviceKind, Registration};

/// Memory of a GPU for each check that runs there in an engine: the context of its process, its libraries and their workspaces, a small
/// model, and the processes of other engines that wait for their next check.
const CHECK_BYTES: u64 = 4 << 30;

/// The elements of a small model: in f32 they take the 64 MiB that an engine may have reserved before it loads one, so that no evidence is
/// read from the memory in use on the device, which other processes change.
const SMALL_ELEMENTS: u64 = 16 << 20;

/// The part of the machine that a check needs for itself while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Everything: no other check runs.
    Everything,
    /// A part of the host.
    Host,
    /// A GPU on which at most so many checks run; 1: the GPU alone.
    Gpu { kind: DeviceKind, checks: usize },
}

impl Room {
    /// The room for a check of `harness`, whose suite is in `base`, on an engine.
    pub(super) fn of(
        harness: &Harness,
        base: &Path,
        registration: Registration,
        engine: &EngineName,
        devices: &Devices,
    ) -> Self {
        let kind = registration.device;
        match registration.check {
            // It needs the memory that is free.
            Check::Stress => Self::Everything,
            // The heap of this process is counted, which any other check would change. The process of an engine counts its own.
            Check::MemoryReleased if engine.is_native() => Self::Everything,
            _ if kind == DeviceKind::Cpu => Self::Host,
            // All checks of the native engine are in this process, with one allocator.
            _ if engine.is_native() || !is_small(harness, base) => Self::Gpu { kind, checks: 1 },
            _ => Self::Gpu { kind, checks: checks(devices.free_memory(kind, engine)) },
        }
    }
}

/// Whether the model is a small one, as operators are. A checkpoint that cannot be read is not known to be.
fn is_small(harness: &Harness, base: &Path) -> bool {
    match harness.spec.subject.checkpoint(base) {
        Some(checkpoint) => element_count(checkpoint.directory()).is_ok_and(|count| count <= SMALL_ELEMENTS),
        None => true,
    }
}

/// How many checks have room in the memory of a GPU.
fn checks(memory: Option<u64>) -> usize {
    memory.map_or(1, |bytes| usize::try_from(bytes / CHECK_BYTES).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::checks;

    #[test]
    fn memory_limits_the_checks_of_a_gpu() {
        let gib = |count: u64| Some(count << 30);
        assert_eq!([None, Some(0), gib(8), gib(24), gib(80)].map(checks), [1, 1, 2, 6, 20]);
    }
}
