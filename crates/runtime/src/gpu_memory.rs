//! The memory of GPUs: the memory of the calling thread's stream, and requests for more than a
//! device has.

#[cfg(feature = "native")]
use testgen_nn::{device::BackendDevice, heap};

/// Returns unused memory to the driver. Has no effect on the host, and on a device that does not
/// answer.
#[cfg(feature = "native")]
pub(crate) fn cleanup(backend: &BackendDevice) {
    match backend {
        BackendDevice::Cpu(_) => {}
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_gpu::memory_cleanup(*device),
    }
}

/// Prepares the calling thread's stream for the next check after one that ran out of memory.
#[cfg(feature = "native")]
pub(crate) fn recover(backend: &BackendDevice) {
    match backend {
        BackendDevice::Cpu(_) => {}
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_gpu::memory_recover(*device),
    }
}

/// The most memory in use: of the heap, or of the tensors of the calling thread's stream.
#[cfg(feature = "native")]
pub(crate) fn peak(backend: &BackendDevice) -> Option<u64> {
    match backend {
        BackendDevice::Cpu(_) => Some(heap::peak()),
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_gpu::memory_usage(*device)?.peak,
    }
}

pub(crate) use gpu::{begin_peak, is_out_of_memory, limit, tries_allocation};

/// `bytes`, or the limit that `TESTGEN_GPU_MEMORY` sets if it is less.
pub(crate) fn within_limit(bytes: u64) -> u64 {
    limit().map_or(bytes, |limit| limit.min(bytes))
}

#[cfg(any(feature = "cuda", feature = "rocm"))]
mod gpu {
    pub(crate) use testgen_gpu::{reset_memory_peak as begin_peak, tries_allocation};

    /// The limit that `TESTGEN_GPU_MEMORY` sets, in bytes.
    pub(crate) fn limit() -> Option<u64> {
        // A value that is not a number was reported when the device was opened.
        testgen_gpu::memory_limit().ok().flatten()
    }

    /// Whether a message is about memory that a device does not have.
    pub(crate) fn is_out_of_memory(message: &str) -> bool {
        message.starts_with(testgen_gpu::OUT_OF_MEMORY)
    }
}

/// The host has no device thread.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
mod gpu {
    pub(crate) fn begin_peak() {}

    pub(crate) fn limit() -> Option<u64> {
        None
    }

    pub(crate) fn tries_allocation() -> bool {
        false
    }

    pub(crate) fn is_out_of_memory(_: &str) -> bool {
        false
    }
}
