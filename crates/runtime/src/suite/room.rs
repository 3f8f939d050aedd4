//! The room that a check needs for itself while it runs.

use super::devices::SuiteDevices;
use crate::{engine::RESERVED, harness::Harness};
use std::path::Path;
use testgen_engine::EngineName;
use testgen_nn::weights::element_count;
use testgen_types::{Check, DeviceKind, Registration};

/// Memory of a GPU for each check that runs there in an engine.
// It is for the context of the process, its libraries and their workspaces, a small model, and the
// processes of other engines that wait for their next check.
const CHECK_BYTES: u64 = 4 << 30;

/// The elements of a small model.
// In f32 they take what an engine may have reserved before it loads one, so that no evidence is
// read from the memory in use on the device, which other processes change.
const SMALL_ELEMENTS: u64 = RESERVED / 4;

/// The part of the machine that a check needs for itself while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MachineShare {
    /// Everything: no other check runs.
    Everything,
    /// A part of the host.
    Host,
    /// A GPU on which at most so many checks run; 1: the GPU alone.
    Gpu { kind: DeviceKind, checks: usize },
}

impl MachineShare {
    /// The room for a check of `harness`, whose suite is in `base`, on an engine.
    pub(super) fn new(
        harness: &Harness,
        base: &Path,
        registration: Registration,
        engine: &EngineName,
        devices: &SuiteDevices,
    ) -> Self {
        let Registration { check, device, .. } = registration;
        // Asked for GPUs only: it reads the headers of a checkpoint.
        let small = device != DeviceKind::Cpu && is_small(harness, base);
        let memory = if small {
            devices.free_memory(device, engine)
        } else {
            None
        };
        Self::for_check(check, device, engine.is_native(), memory)
    }

    /// The room for a check; on a GPU, `memory` is what is free for checks of small models, none
    /// for a large one.
    fn for_check(check: Check, device: DeviceKind, is_native: bool, memory: Option<u64>) -> Self {
        match (check, device) {
            // It needs the memory that is free.
            (Check::Stress, _) => Self::Everything,
            // The heap of this process is counted, which any other check would change. The process
            // of an engine counts its own.
            (Check::MemoryReleased, _) if is_native => Self::Everything,
            (_, DeviceKind::Cpu) => Self::Host,
            // All checks of the native engine are in this process, with one allocator.
            (_, kind) if is_native => Self::Gpu { kind, checks: 1 },
            (_, kind) => Self::Gpu {
                kind,
                checks: checks(memory),
            },
        }
    }
}

/// Whether the model is a small one, as operators are. A checkpoint that cannot be read is not
/// known to be.
fn is_small(harness: &Harness, base: &Path) -> bool {
    match harness.spec.subject.checkpoint(base) {
        Some(checkpoint) => checkpoint
            .complete_directory()
            .is_ok_and(|directory| element_count(&directory).is_ok_and(|it| it <= SMALL_ELEMENTS)),
        None => true,
    }
}

/// How many checks have room in the memory of a GPU.
fn checks(memory: Option<u64>) -> usize {
    memory
        .map_or(1, |bytes| {
            usize::try_from(bytes / CHECK_BYTES).unwrap_or(usize::MAX)
        })
        // A GPU with less memory than one check needs still runs one at a time.
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::{MachineShare, checks};
    use testgen_types::{Check, DeviceKind};

    #[test]
    fn memory_limits_the_checks_of_a_gpu() {
        let gib = |count: u64| Some(count << 30);
        assert_eq!(
            [None, Some(0), gib(8), gib(24), gib(80)].map(checks),
            [1, 1, 2, 6, 20]
        );
    }

    #[test]
    fn a_gpu_is_shared_by_small_models_of_engines_only() {
        let (kind, memory) = (DeviceKind::Rocm, Some(80 << 30));
        let room =
            |is_native, memory| MachineShare::for_check(Check::Finite, kind, is_native, memory);
        let expected = [
            MachineShare::Gpu { kind, checks: 20 },
            MachineShare::Gpu { kind, checks: 1 },
            MachineShare::Gpu { kind, checks: 1 },
        ];
        assert_eq!(
            [room(false, memory), room(false, None), room(true, memory)],
            expected
        );
    }

    #[test]
    fn what_counts_or_needs_all_memory_runs_alone() {
        let room =
            |check, is_native| MachineShare::for_check(check, DeviceKind::Cpu, is_native, None);
        let everything = [
            (Check::Stress, true),
            (Check::Stress, false),
            (Check::MemoryReleased, true),
        ];
        assert!(
            everything
                .into_iter()
                .all(|(check, is_native)| room(check, is_native) == MachineShare::Everything)
        );
        assert_eq!(
            [
                room(Check::MemoryReleased, false),
                room(Check::Finite, true)
            ],
            [MachineShare::Host; 2]
        );
    }
}
