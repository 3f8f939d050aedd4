//! The memory of a device: its size, the part this process uses, and releasing what is unused.

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::MEASURED;

use crate::{
    engine::HighestMemory,
    gpu_memory,
    label::Label,
    log::log_verbose,
    open::{DeviceExecutor, OpenDevice},
};
use serde::Serialize;
use std::fmt;
use testgen_engine::MemoryReply;
#[cfg(feature = "native")]
use testgen_nn::{device::BackendDevice, heap};

/// Bytes of a device. `None`: the device does not report the value.
///
/// On the host processor, `in_use` and `peak` are the heap of this process, counted by its
/// allocator, plus the weights that stay in mapped checkpoint files. On a GPU, `in_use` and
/// `reserved` are the bytes that burn's allocator holds **for the stream of the calling thread**:
/// every OS thread has its own stream, so query from the thread that loaded and ran the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DeviceMemory {
    /// Total memory of the device.
    pub total: Option<u64>,
    /// Currently free for any process.
    pub free: Option<u64>,
    /// In use by tensors (GPU) or by the heap and the mapped weights of this process (CPU).
    pub in_use: Option<u64>,
    /// Allocated from the driver, in use or cached for reuse; GPU only.
    pub reserved: Option<u64>,
    /// The maximum in use: on the host of the process, since
    /// [`reset_peak`](testgen_nn::heap::reset_peak); on a GPU of the calling thread's stream, since
    /// its check began; of an engine on a GPU since it began to load its last model.
    pub peak: Option<u64>,
    /// Given by the driver to the process that computes, whichever check uses it: tensors, what the
    /// allocator keeps, code and the context; GPU only.
    pub driver: Option<u64>,
}

/// The current memory of `device`, for the calling thread (see [`DeviceMemory`]).
pub fn memory(device: &OpenDevice) -> DeviceMemory {
    let (free, total) = testgen_device::memory(&device.facts).unzip();
    match &device.executor {
        // The engine's own count: total and free memory are read by this process.
        DeviceExecutor::Engine { process, .. } => {
            let MemoryReply { in_use, peak } = process.memory();
            DeviceMemory {
                total,
                free,
                in_use,
                reserved: None,
                peak,
                driver: process.driver_memory(),
            }
        }
        #[cfg(feature = "native")]
        DeviceExecutor::Native(BackendDevice::Cpu(_)) => DeviceMemory {
            total,
            free,
            in_use: Some(heap::in_use()),
            reserved: None,
            peak: Some(heap::peak()),
            driver: None,
        },
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        DeviceExecutor::Native(BackendDevice::Gpu(gpu)) => {
            let usage = testgen_gpu::memory_usage(*gpu);
            let (in_use, reserved) = (
                usage.map(|usage| usage.in_use),
                usage.map(|usage| usage.reserved),
            );
            DeviceMemory {
                total,
                free,
                in_use,
                reserved,
                peak: usage.and_then(|usage| usage.peak),
                driver: own_driver_memory(device),
            }
        }
    }
}

/// The bytes that one more call may use on `device`, or `None` if the driver does not say.
pub(crate) fn available(device: &OpenDevice) -> Option<u64> {
    memory(device).available().map(gpu_memory::within_limit)
}

impl DeviceMemory {
    /// Free for the calling thread, less a reserve.
    fn available(&self) -> Option<u64> {
        // Memory that the allocator of this stream holds and does not use is free for it.
        let held = self
            .reserved
            .zip(self.in_use)
            .map_or(0, |(reserved, used)| reserved.saturating_sub(used));
        let free = self.free?.saturating_add(held);
        // A tenth for the driver, kernels and the sizes of the allocator's blocks.
        Some(free - free / 10)
    }
}

/// The maximum in use, as [`DeviceMemory::peak`] has it, without a query to the driver.
pub(crate) fn peak(device: &OpenDevice) -> Option<u64> {
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => gpu_memory::peak(backend),
        // Their peak is of the last model, and operators are none.
        DeviceExecutor::Engine { .. } => None,
    }
}

/// The most memory that a check has used on `device`, when it ends.
pub(crate) fn highest(device: &OpenDevice) -> HighestMemory {
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => HighestMemory {
            peak: gpu_memory::peak(backend),
            driver: own_driver_memory(device),
        },
        DeviceExecutor::Engine { engine, .. } => engine.highest_memory(),
    }
}

/// Bytes of a GPU that its driver has given to this process.
#[cfg(feature = "native")]
fn own_driver_memory(device: &OpenDevice) -> Option<u64> {
    testgen_device::process_memory(&device.facts, std::process::id())
}

/// Starts a new measurement of the peak of the calling thread on GPUs. The peak of the host
/// includes all checks that run.
pub(crate) fn begin_peak() {
    gpu_memory::begin_peak();
}

/// Returns unused memory of the calling thread's stream to the driver. Has no effect on the host.
pub fn cleanup(device: &OpenDevice) {
    match &device.executor {
        #[cfg(feature = "native")]
        DeviceExecutor::Native(backend) => gpu_memory::cleanup(backend),
        // It releases memory when it unloads a model.
        DeviceExecutor::Engine { .. } => {}
    }
}

/// Logs the memory of the device; `when` is for instance `before the load`.
pub fn report_memory(label: &Label, when: &str, memory: &DeviceMemory) {
    log_verbose(label, format_args!("memory {when}: {memory}"));
}

impl fmt::Display for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("total", self.total),
            ("free", self.free),
            ("in use", self.in_use),
            ("reserved", self.reserved),
            ("peak", self.peak),
            ("driver", self.driver),
        ];
        let known = parts
            .iter()
            .filter_map(|(name, bytes)| bytes.map(|bytes| format!("{name} {}", mebibytes(bytes))));
        let known: Vec<String> = known.collect();
        if known.is_empty() {
            f.write_str("unknown")
        } else {
            f.write_str(&known.join(", "))
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
