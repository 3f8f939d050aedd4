//! How many processes compile.

use super::jobs::CompileUnit;
use crate::{machine::host_processor, suite::environment::Environment};
use std::collections::BTreeSet;
use testgen_engine::EngineName;
use testgen_types::DeviceKind;

/// The host memory and the device memory that one process needs, with room to spare.
// It is for the driver's context, a compiler and the mapped checkpoint.
const PROCESS_BYTES: u64 = 1 << 30;

/// One process for each core, as far as memory reaches, and at most `requested`.
pub(super) fn processes(
    units: &[CompileUnit],
    environment: &Environment,
    requested: Option<&str>,
) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kinds: BTreeSet<DeviceKind> = units.iter().map(|unit| unit.device).collect();
    let device_memory = kinds
        .into_iter()
        .filter_map(|kind| environment.devices.free_memory(kind, &EngineName::native()))
        // Every process opens each kind of device that it compiles for, so that the device with the
        // least memory decides.
        .min();
    // Each process takes both kinds of memory, so the scarcer one decides.
    let memory = available_memory().into_iter().chain(device_memory).min();
    limit(
        cores,
        memory,
        requested.and_then(|value| value.trim().parse().ok()),
    )
}

fn limit(cores: usize, memory: Option<u64>, requested: Option<usize>) -> usize {
    let by_memory = memory.map_or(usize::MAX, |bytes| (bytes / PROCESS_BYTES) as usize);
    requested.unwrap_or(cores).min(by_memory)
}

/// The free memory of the host, or `None` if the system does not report it.
fn available_memory() -> Option<u64> {
    testgen_device::memory(&host_processor()).map(|(free, _)| free)
}

#[cfg(test)]
mod tests {
    use super::{available_memory, limit};

    #[test]
    fn memory_and_the_variable_lower_the_number() {
        assert_eq!(limit(16, None, None), 16);
        assert_eq!(limit(16, Some(5 << 30), None), 5);
        assert_eq!(limit(16, Some(5 << 30), Some(3)), 3);
        assert_eq!(limit(2, Some(64 << 30), Some(0)), 0);
    }

    #[test]
    fn the_available_memory_is_read() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
