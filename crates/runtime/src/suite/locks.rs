//! Locks between concurrent checks: one check on each GPU, and none during a measurement of memory.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use testgen_types::{Check, DeviceKind};

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
    /// Checks of other devices may run.
    Shared(RwLockReadGuard<'a, ()>, Option<MutexGuard<'a, ()>>),
    /// Nothing else runs.
    Exclusive(RwLockWriteGuard<'a, ()>),
}

impl Locks {
    /// Waits until a check may run. A lock that a panicking check held is taken over.
    pub(super) fn hold(&self, check: Check, device: DeviceKind) -> Held<'_> {
        if matches!(check, Check::MemoryReleased | Check::Stress) {
            // The heap is counted for the whole process, so any other check would change the measured memory; and stress needs the
            // memory that is free.
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
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::channel,
    };
    use std::time::Duration;

    /// The maximum number of checks that ran at the same time.
    fn max_concurrent(kinds: &[(Check, DeviceKind)]) -> usize {
        let (locks, running, most) = (Locks::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for &(check, device) in kinds {
                let (locks, running, most) = (&locks, &running, &most);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let held = locks.hold(check, device);
                        most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                        std::thread::sleep(Duration::from_micros(300));
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
        assert_eq!(max_concurrent(&[(Check::Finite, DeviceKind::Rocm), (Check::OutputGolden, DeviceKind::Rocm)]), 1);
    }

    #[test]
    fn checks_of_the_host_run_at_the_same_time() {
        let (locks, (sender, receiver)) = (Arc::new(Locks::default()), channel());
        let _held = locks.hold(Check::Finite, DeviceKind::Cpu);
        let other = Arc::clone(&locks);
        std::thread::spawn(move || {
            let _held = other.hold(Check::OutputGolden, DeviceKind::Cpu);
            sender.send(())
        });
        // A watchdog: the second check would wait for ever.
        assert_eq!(receiver.recv_timeout(Duration::from_secs(300)), Ok(()));
    }

    #[test]
    fn nothing_runs_during_a_measurement_of_memory() {
        assert_eq!(max_concurrent(&[(Check::MemoryReleased, DeviceKind::Cpu), (Check::Finite, DeviceKind::Cuda)]), 1);
    }
}
