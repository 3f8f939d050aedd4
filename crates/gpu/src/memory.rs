//! The memory that cubecl's allocator holds for the calling thread's streams.

use crate::{copy_stream, device::GpuDevice, peak, runtime::GpuRuntime};
use cubecl::{MemoryUsage as StreamUsage, Runtime as _, stream_id::StreamId};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Memory of the calling thread's streams, in bytes.
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
    let usages = catch_unwind(AssertUnwindSafe(|| {
        let client = GpuRuntime::client(&device);
        each_stream(|| client.memory_usage().ok())
    }));
    // A stream that does not answer makes the sum wrong, so that there is no answer at all.
    let usages: Vec<StreamUsage> = usages.ok()?.into_iter().collect::<Option<_>>()?;
    Some(MemoryUsage {
        in_use: usages.iter().map(|usage| usage.bytes_in_use).sum(),
        reserved: usages.iter().map(|usage| usage.bytes_reserved).sum(),
        peak: peak::of_thread(device),
    })
}

/// The results of `work` on each stream of the calling thread.
fn each_stream<T>(work: impl Fn() -> T) -> Vec<T> {
    let streams = copy_stream::streams(StreamId::current()).into_iter();
    streams.map(|stream| stream.executes(&work)).collect()
}

/// Returns unused memory to the driver. Has no effect on a device that does not answer.
pub fn memory_cleanup(device: GpuDevice) {
    // burn panics on a device that does not answer.
    drop(catch_unwind(AssertUnwindSafe(|| {
        let client = GpuRuntime::client(&device);
        each_stream(|| client.memory_cleanup())
    })));
}

/// Removes the errors that a failed allocation left on the calling thread's streams, and returns
/// their unused memory: the next computation of the thread uses the same ones.
pub fn memory_recover(device: GpuDevice) {
    drop(catch_unwind(AssertUnwindSafe(|| {
        let client = GpuRuntime::client(&device);
        each_stream(|| client.flush().ok())
    })));
    memory_cleanup(device);
}
