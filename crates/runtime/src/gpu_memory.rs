//! The memory that cubecl's allocator holds for the calling thread's stream. burn's `Dispatch` does not forward these
//! calls.

#[cfg(any(feature = "cuda", feature = "rocm"))]
use burn::DispatchDevice;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use cubecl::Runtime;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use testgen_nn::device::BackendDevice;

/// Returns unused memory to the driver. Has no effect on the host, and on a device that does not answer.
pub(crate) fn cleanup(backend: &BackendDevice) {
    match backend {
        BackendDevice::Cpu(_) => {}
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => {
            // cubecl panics when its device thread has panicked before; then there is nothing to clean up.
            drop(catch_unwind(AssertUnwindSafe(|| match device {
                #[cfg(feature = "cuda")]
                DispatchDevice::Cuda(device) => cubecl::cuda::CudaRuntime::client(device).memory_cleanup(),
                #[cfg(feature = "rocm")]
                DispatchDevice::Rocm(device) => cubecl::hip::HipRuntime::client(device).memory_cleanup(),
                DispatchDevice::Flex(_) => {}
            })));
        }
    }
}

/// Bytes in use and bytes reserved; `None` when the device does not answer.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) fn usage(device: &DispatchDevice) -> Option<(u64, u64)> {
    let usage = catch_unwind(AssertUnwindSafe(|| match device {
        #[cfg(feature = "cuda")]
        DispatchDevice::Cuda(device) => cubecl::cuda::CudaRuntime::client(device).memory_usage().ok(),
        #[cfg(feature = "rocm")]
        DispatchDevice::Rocm(device) => cubecl::hip::HipRuntime::client(device).memory_usage().ok(),
        DispatchDevice::Flex(_) => None,
    }));
    usage.ok().flatten().map(|usage| (usage.bytes_in_use, usage.bytes_reserved))
}
