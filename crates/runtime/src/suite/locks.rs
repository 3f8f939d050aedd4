//! Locks between concurrent checks: how many run on a GPU at the same time, and none during a
//! measurement of memory.

use super::room::MachineShare;
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use testgen_types::DeviceKind;

/// The locks of one process.
#[derive(Debug, Default)]
pub(super) struct Locks {
    everything: RwLock<()>,
    cuda: GpuChecks,
    rocm: GpuChecks,
}

/// Held while a check runs.
#[derive(Debug)]
#[expect(dead_code, reason = "guards are held, not read")]
pub(super) enum HeldLock<'a> {
    /// Other checks may run.
    Shared(Option<GpuPart<'a>>, RwLockReadGuard<'a, ()>),
    /// Nothing else runs.
    Exclusive(RwLockWriteGuard<'a, ()>),
}

impl Locks {
    /// Waits until a check that needs `room` may run. A lock that a panicking check held is taken
    /// over.
    pub(super) fn hold(&self, room: MachineShare) -> HeldLock<'_> {
        if room == MachineShare::Everything {
            return HeldLock::Exclusive(
                self.everything
                    .write()
                    .unwrap_or_else(PoisonError::into_inner),
            );
        }
        // Before the GPU, so that a check that has the GPU waits for no other lock.
        let shared = self
            .everything
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let part = match room {
            MachineShare::Everything | MachineShare::Host => None,
            MachineShare::Gpu {
                kind: DeviceKind::Rocm,
                checks,
            } => Some(self.rocm.take(checks)),
            MachineShare::Gpu { checks, .. } => Some(self.cuda.take(checks)),
        };
        HeldLock::Shared(part, shared)
    }
}

/// The checks that run on a GPU.
#[derive(Debug, Default)]
struct GpuChecks {
    /// Held by the check that waits next.
    // With it, a check that runs alone gets its turn.
    turn: Mutex<()>,
    running: Mutex<usize>,
    ended: Condvar,
}

impl GpuChecks {
    /// Waits until fewer than `most` checks run.
    fn take(&self, most: usize) -> GpuPart<'_> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let running = self.running();
        let mut running = self
            .ended
            .wait_while(running, |running| *running >= most)
            .unwrap_or_else(PoisonError::into_inner);
        // While a check runs alone, no other one starts.
        let taken = if most == 1 { ALL } else { 1 };
        *running += taken;
        GpuPart { gpu: self, taken }
    }

    fn running(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More checks than any GPU has room for.
const ALL: usize = 1 << 20;

/// A part of a GPU.
#[derive(Debug)]
pub(super) struct GpuPart<'a> {
    gpu: &'a GpuChecks,
    taken: usize,
}

impl Drop for GpuPart<'_> {
    fn drop(&mut self) {
        *self.gpu.running() -= self.taken;
        // All, because those that wait have different limits.
        self.gpu.ended.notify_all();
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

    const CUDA: DeviceKind = DeviceKind::Cuda;

    /// The maximum number of checks that ran at the same time.
    fn max_concurrent(rooms: &[MachineShare]) -> usize {
        let (locks, running, most) = (Locks::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for &room in rooms {
                let (locks, running, most) = (&locks, &running, &most);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let held = locks.hold(room);
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

    /// Whether a check in `second` may run while one in `first` does.
    fn run_together(first: MachineShare, second: MachineShare) -> bool {
        let (locks, (sender, receiver)) = (Arc::new(Locks::default()), channel());
        let _held = locks.hold(first);
        let other = Arc::clone(&locks);
        std::thread::spawn(move || {
            let _held = other.hold(second);
            sender.send(())
        });
        // A watchdog: otherwise the second check would wait for ever.
        receiver.recv_timeout(Duration::from_secs(300)).is_ok()
    }

    #[test]
    fn a_check_that_needs_a_gpu_alone_runs_alone_there() {
        let (alone, small) = (
            MachineShare::Gpu {
                kind: CUDA,
                checks: 1,
            },
            MachineShare::Gpu {
                kind: CUDA,
                checks: 8,
            },
        );
        assert_eq!(max_concurrent(&[alone, alone]), 1);
        assert_eq!(max_concurrent(&[small, alone]), 1);
    }

    #[test]
    fn a_gpu_has_room_for_so_many_checks() {
        assert!(
            max_concurrent(
                &[MachineShare::Gpu {
                    kind: CUDA,
                    checks: 2
                }; 4]
            ) <= 2
        );
        assert!(run_together(
            MachineShare::Gpu {
                kind: CUDA,
                checks: 2
            },
            MachineShare::Gpu {
                kind: CUDA,
                checks: 2
            }
        ));
    }

    #[test]
    fn checks_of_the_host_and_of_other_gpus_run_at_the_same_time() {
        assert!(run_together(MachineShare::Host, MachineShare::Host));
        assert!(run_together(
            MachineShare::Gpu {
                kind: CUDA,
                checks: 1
            },
            MachineShare::Host
        ));
        assert!(run_together(
            MachineShare::Gpu {
                kind: CUDA,
                checks: 1
            },
            MachineShare::Gpu {
                kind: DeviceKind::Rocm,
                checks: 1
            }
        ));
    }

    #[test]
    fn nothing_runs_during_a_measurement_of_memory() {
        assert_eq!(
            max_concurrent(&[
                MachineShare::Everything,
                MachineShare::Gpu {
                    kind: CUDA,
                    checks: 8
                }
            ]),
            1
        );
        assert_eq!(
            max_concurrent(&[MachineShare::Everything, MachineShare::Host]),
            1
        );
    }
}
