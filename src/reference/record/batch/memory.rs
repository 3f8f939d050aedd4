//! The memory that recorders share, and the memory that each takes.

use std::{
    fs,
    path::Path,
    sync::{Condvar, Mutex, PoisonError},
};
use testgen_device::{System, host_processor};

/// The memory of a recorder for each byte of weights.
// A model in 16 bits, one in f32 and one in f64 at once, from a file in 16 bits.
const MEMORY_OF_A_BYTE: u64 = 9;
/// The memory of Python with torch and transformers.
const MEMORY_OF_PYTHON: u64 = 768 << 20;
/// The share of the available memory that recorders may take.
const USABLE: f64 = 0.8;

/// The memory that recorders share.
pub(super) struct RecorderMemory {
    limit: u64,
    used: Mutex<u64>,
    released: Condvar,
}

impl RecorderMemory {
    /// The memory that is available now; without a limit where there is no `/proc`.
    pub(super) fn available() -> Self {
        let limit = host_processor(&System::host())
            .free_memory
            .map_or(u64::MAX, |bytes| (bytes as f64 * USABLE) as u64);
        Self {
            limit,
            used: Mutex::new(0),
            released: Condvar::new(),
        }
    }

    /// Runs `work` when `bytes` are free, or alone if they never are.
    pub(super) fn with<T>(&self, bytes: u64, work: impl FnOnce() -> T) -> T {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = self
            .released
            .wait_while(used, |used: &mut u64| {
                // With nothing in use even a recorder that needs more than the limit starts:
                // waiting would not help it.
                *used > 0 && used.saturating_add(bytes) > self.limit
            })
            .unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_add(bytes);
        drop(used);
        let _held = HeldMemory {
            memory: self,
            bytes,
        };
        work()
    }
}

/// Memory of a recorder until this is dropped, also by a panic: the other recorders wait for it.
struct HeldMemory<'a> {
    memory: &'a RecorderMemory,
    bytes: u64,
}

impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        let used = &self.memory.used;
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(self.bytes);
        drop(used);
        // All are woken: what is free can suffice for several, or only for a small one.
        self.memory.released.notify_all();
    }
}

/// The memory that recording a checkpoint takes, in bytes.
pub(super) fn needed(checkpoint: &Path) -> u64 {
    let files = fs::read_dir(checkpoint).into_iter().flatten().flatten();
    let weights = files.filter(|file| {
        file.path()
            .extension()
            .is_some_and(|extension| extension == "safetensors")
            // Recorded outputs, which the recorder replaces and does not load.
            && file.file_name() != "golden.safetensors"
    });
    let bytes: u64 = weights
        .filter_map(|file| Some(file.metadata().ok()?.len()))
        .sum();
    MEMORY_OF_PYTHON.saturating_add(bytes.saturating_mul(MEMORY_OF_A_BYTE))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::atomic::{AtomicUsize, Ordering::SeqCst},
        thread,
        time::Duration,
    };

    #[test]
    fn a_recorder_that_panics_releases_its_memory() {
        let memory = RecorderMemory {
            limit: 10,
            used: Mutex::new(0),
            released: Condvar::new(),
        };
        let work = AssertUnwindSafe(|| memory.with(6, || panic!("a recorder that panics")));
        assert!(catch_unwind(work).is_err());
        assert_eq!(*memory.used.lock().unwrap(), 0);
    }

    #[test]
    fn the_golden_is_not_part_of_the_weights() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("model.safetensors", 10), ("golden.safetensors", 1000)] {
            fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(
            needed(folder.path()),
            MEMORY_OF_PYTHON + 10 * MEMORY_OF_A_BYTE
        );
    }

    #[test]
    fn recorders_that_do_not_fit_together_run_one_after_another() {
        let memory = RecorderMemory {
            limit: 10,
            used: Mutex::new(0),
            released: Condvar::new(),
        };
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::sleep(Duration::from_millis(20));
            running.fetch_sub(1, SeqCst);
        };
        // The largest does not fit at all, and runs alone.
        thread::scope(|scope| {
            for bytes in [6, 6, 6, 40] {
                let memory = &memory;
                scope.spawn(move || memory.with(bytes, work));
            }
        });
        assert_eq!((most.load(SeqCst), *memory.used.lock().unwrap()), (1, 0));
    }
}
