//! What cubecl's allocator says about the calling thread's stream. `Dispatch` does not forward these calls.

#![cfg(any(feature = "cuda", feature = "rocm"))]

use burn::DispatchDevice;
use cubecl::Runtime;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bytes in use and bytes reserved; `None` when the device does not answer.
pub(super) fn usage(device: &DispatchDevice) -> Option<(u64, u64)> {
    let usage = catch_unwind(AssertUnwindSafe(|| match device {
        #[cfg(feature = "cuda")]
        DispatchDevice::Cuda(device) => cubecl::cuda::CudaRuntime::client(device).memory_usage().ok(),
        #[cfg(feature = "rocm")]
        DispatchDevice::Rocm(device) => cubecl::hip::HipRuntime::client(device).memory_usage().ok(),
        DispatchDevice::Flex(_) => None,
    }));
    usage.ok().flatten().map(|usage| (usage.bytes_in_use, usage.bytes_reserved))
}

/// Gives unused memory back to the driver. A device that does not answer keeps it.
pub(super) fn cleanup(device: &DispatchDevice) {
    let cleaned = catch_unwind(AssertUnwindSafe(|| match device {
        #[cfg(feature = "cuda")]
        DispatchDevice::Cuda(device) => cubecl::cuda::CudaRuntime::client(device).memory_cleanup(),
        #[cfg(feature = "rocm")]
        DispatchDevice::Rocm(device) => cubecl::hip::HipRuntime::client(device).memory_cleanup(),
        DispatchDevice::Flex(_) => {}
    }));
    drop(cleaned);
}
