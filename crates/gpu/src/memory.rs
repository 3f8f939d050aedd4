//! The memory that cubecl's allocator holds for the calling thread's stream.

use crate::{device::GpuDevice, peak, runtime::GpuRuntime};
use cubecl::Runtime as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Memory of the calling thread's stream, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Held by tensors.
    pub in_use: u64,
    /// Taken from the driver.
    pub reserved: u64,
    /// The most that tensors held since [`reset_memory_peak`](crate::reset_memory_peak), or `None`
    /// if nothing was allocated.
    pub peak: Option<u64>,
}

/// The memory in use; `None` when the device does not answer.
pub fn memory_usage(device: GpuDevice) -> Option<MemoryUsage> {
    // cubecl panics when its device thread has panicked before.
    let usage = catch_unwind(AssertUnwindSafe(|| {
        GpuRuntime::client(&device).memory_usage().ok()
    }));
    let usage = usage.ok().flatten()?;
    Some(MemoryUsage {
        in_use: usage.bytes_in_use,
        reserved: usage.bytes_reserved,
        peak: peak::of_stream(device),
    })
}

/// Returns unused memory to the driver. Has no effect on a device that does not answer.
pub fn memory_cleanup(device: GpuDevice) {
    drop(catch_unwind(AssertUnwindSafe(|| {
        GpuRuntime::client(&device).memory_cleanup()
    })));
}

/// Removes the errors that a failed allocation left on the calling thread's stream, and returns its
/// unused memory: the next computation of the thread uses the same stream.
pub fn memory_recover(device: GpuDevice) {
    let client = || GpuRuntime::client(&device);
    drop(catch_unwind(AssertUnwindSafe(|| client().flush().ok())));
    memory_cleanup(device);
}
