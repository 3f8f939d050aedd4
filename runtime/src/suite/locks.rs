//! What may run at the same time: one check on each GPU, and nothing beside a measurement of memory.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use testgen_contract::{Check, DeviceKind};

/// The locks of one process.
#[derive(Debug, Default)]
pub(super) struct Locks {
    everything: RwLock<()>,
    cuda: Mutex<()>,
    rocm: Mutex<()>,
}

/// Held while a check runs.
#[derive(Debug)]
#[expect(dead_code, reason = "guards are held, not read")]
pub(super) enum Held<'a> {
    /// Others may run, on other devices.
    Shared(RwLockReadGuard<'a, ()>, Option<MutexGuard<'a, ()>>),
    /// Nothing else runs.
    Exclusive(RwLockWriteGuard<'a, ()>),
}

impl Locks {
    /// Waits until a check may run. A check that panicked holds nobody up.
    pub(super) fn hold(&self, check: Check, device: DeviceKind) -> Held<'_> {
        if check == Check::MemoryReleased {
            return Held::Exclusive(self.everything.write().unwrap_or_else(PoisonError::into_inner));
        }
        let shared = self.everything.read().unwrap_or_else(PoisonError::into_inner);
        let device = match device {
            DeviceKind::Cpu => None,
            DeviceKind::Cuda => Some(&self.cuda),
            DeviceKind::Rocm => Some(&self.rocm),
        };
        Held::Shared(shared, device.map(|device| device.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// The most checks that ran at once, and whether any ran beside a measurement.
    fn together(kinds: &[(Check, DeviceKind)]) -> usize {
        let (locks, running, most) = (Locks::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for &(check, device) in kinds {
                let (locks, running, most) = (&locks, &running, &most);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let held = locks.hold(check, device);
                        most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                        std::thread::sleep(std::time::Duration::from_micros(300));
                        running.fetch_sub(1, SeqCst);
                        drop(held);
                    }
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn checks_of_one_gpu_run_one_after_another() {
        assert_eq!(together(&[(Check::Finite, DeviceKind::Rocm), (Check::OutputGolden, DeviceKind::Rocm)]), 1);
        assert_eq!(together(&[(Check::Finite, DeviceKind::Cpu), (Check::OutputGolden, DeviceKind::Cpu)]), 2);
    }

    #[test]
    fn nothing_runs_beside_a_measurement_of_memory() {
        assert_eq!(together(&[(Check::MemoryReleased, DeviceKind::Cpu), (Check::Finite, DeviceKind::Cuda)]), 1);
    }
}
