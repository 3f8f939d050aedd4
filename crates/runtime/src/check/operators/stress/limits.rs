//! The memory and the work that a stress case may take on a device.

use crate::{
    gpu_memory,
    memory::{self, memory},
    open::OpenDevice,
};
use testgen_operators::cases::StressCase;
use testgen_types::DeviceKind;

/// Bytes on the host processor.
// All programs and the other checks share its memory.
const ON_HOST: u64 = 2 << 30;
/// Multiplications that the host processor computes in seconds.
const WORK_ON_HOST: u64 = 1 << 29;
/// Bytes on a simulated device.
const SIMULATED: u64 = 256 << 20;
/// Multiplications that a simulated device computes in seconds.
const WORK_SIMULATED: u64 = 1 << 23;
/// Bytes for a driver that does not report its free memory.
const UNKNOWN: u64 = 1 << 30;

/// The limits of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeviceLimits {
    /// Bytes that are free for the case.
    bytes: u64,
    /// Operations, or `None` on GPUs.
    work: Option<u64>,
}

/// Why a case is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It needs more memory than is free.
    Memory {
        /// The estimate.
        needed: u64,
        /// The bytes that it may use.
        free: u64,
    },
    /// It takes too long on this kind of device.
    Work {
        /// The number of operations.
        needed: u64,
        /// The limit.
        limit: u64,
    },
}

impl DeviceLimits {
    /// The limits at this moment.
    pub(super) fn for_device(device: &OpenDevice) -> Self {
        match (device.facts().kind, device.facts().simulated) {
            (DeviceKind::Cpu, _) => Self {
                bytes: memory(device)
                    .free
                    .map_or(ON_HOST, |free| free / 4)
                    .min(ON_HOST),
                work: Some(WORK_ON_HOST),
            },
            // The driver reports the memory of the card; what is allocated is memory of the host.
            (_, true) => Self {
                bytes: SIMULATED,
                work: Some(WORK_SIMULATED),
            },
            _ => Self {
                bytes: memory::available(device)
                    .unwrap_or_else(|| gpu_memory::within_limit(UNKNOWN)),
                work: None,
            },
        }
    }

    /// Why `runs` of a case at once do not fit.
    pub(super) fn refuses(self, case: &StressCase, runs: u64) -> Option<Refusal> {
        // Memory before work: its reason has the number by which a larger device is chosen.
        let needed = case.bytes().saturating_mul(runs);
        if needed > self.bytes {
            return Some(Refusal::Memory {
                needed,
                free: self.bytes,
            });
        }
        let limit = self.work.filter(|limit| case.work > *limit)?;
        Some(Refusal::Work {
            needed: case.work,
            limit,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{DeviceLimits, Refusal};
    use testgen_operators::{calls::Element, cases::stress_cases};
    use testgen_types::Operator;

    #[test]
    fn a_case_that_does_not_fit_is_refused_before_it_runs() {
        // 2.2e9 elements of 4 bytes, three times and more.
        let case = stress_cases(Operator::Add, &[2_200_000, 1000], Element::F32).remove(0);
        let needed = case.bytes();
        assert!(needed > 3 * 4 * 2_200_000_000, "{needed}");
        let limits = DeviceLimits {
            bytes: needed,
            work: None,
        };
        assert_eq!(limits.refuses(&case, 1), None);
        assert_eq!(
            limits.refuses(&case, 2),
            Some(Refusal::Memory {
                needed: 2 * needed,
                free: needed
            })
        );
        let slow = DeviceLimits {
            bytes: u64::MAX,
            work: Some(1000),
        };
        assert!(matches!(
            slow.refuses(&case, 1).unwrap(),
            Refusal::Work { limit: 1000, .. }
        ));
    }
}
