//! The memory of a device: what there is, what this process has of it, and giving it back.

mod allocator;
mod gpu;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::MEASURED;

pub use allocator::reset_peak;
pub(crate) use allocator::{CountingAllocator, Held};

use crate::narration::narrate;
use crate::open::{BackendDevice, OpenDevice};
use serde::Serialize;
use std::fmt;

/// Bytes of a device. `None`: the device keeps no such account.
///
/// On the host processor, `in_use` and `peak` are the heap of this process, counted by its allocator, and the
/// weights that stay in mapped checkpoint files. On a GPU, `in_use` and `reserved` are what burn's allocator holds **for the stream of the calling
/// thread**: every OS thread has a stream of its own, so ask from the thread that loaded and ran the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Memory {
    /// All memory of the device.
    pub total: Option<u64>,
    /// Free for any process, now.
    pub free: Option<u64>,
    /// In use by tensors (GPU) or by the heap and the mapped weights of this process (CPU).
    pub in_use: Option<u64>,
    /// Taken from the driver, in use or kept for later; GPU only.
    pub reserved: Option<u64>,
    /// The most that was in use since [`reset_peak`]; CPU only.
    pub peak: Option<u64>,
}

/// The memory of `device` now, for the calling thread (see [`Memory`]).
pub fn memory(device: &OpenDevice) -> Memory {
    let (free, total) = testgen_device::memory(&device.facts).unzip();
    match &device.backend {
        BackendDevice::Cpu(_) => {
            Memory { total, free, in_use: Some(allocator::in_use()), reserved: None, peak: Some(allocator::peak()) }
        }
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(gpu) => {
            let (in_use, reserved) = gpu::usage(gpu).unzip();
            Memory { total, free, in_use, reserved, peak: None }
        }
    }
}

/// Gives memory that no tensor uses back to the driver: that of the calling thread's stream. Nothing to do on the host.
pub fn cleanup(device: &OpenDevice) {
    cleanup_backend(&device.backend);
}

/// As [`cleanup`], for a device that is not proven yet.
pub(crate) fn cleanup_backend(backend: &BackendDevice) {
    match backend {
        BackendDevice::Cpu(_) => {}
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(gpu) => gpu::cleanup(gpu),
    }
}

/// Tells the memory of the device; `when` is for instance `before the load`.
pub fn report_memory(label: &str, when: &str, memory: &Memory) {
    narrate(label, format_args!("memory {when}: {memory}"));
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("total", self.total),
            ("free", self.free),
            ("in use", self.in_use),
            ("reserved", self.reserved),
            ("peak", self.peak),
        ];
        let known = parts.iter().filter_map(|(name, bytes)| bytes.map(|bytes| format!("{name} {}", mebibytes(bytes))));
        let known: Vec<String> = known.collect();
        if known.is_empty() { f.write_str("not known") } else { f.write_str(&known.join(", ")) }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
