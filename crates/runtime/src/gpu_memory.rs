//! The memory of the calling thread's stream.

use testgen_nn::device::BackendDevice;

/// Returns unused memory to the driver. Has no effect on the host, and on a device that does not answer.
pub(crate) fn cleanup(backend: &BackendDevice) {
    match backend {
        BackendDevice::Cpu(_) => {}
        #[cfg(any(feature = "cuda", feature = "rocm"))]
        BackendDevice::Gpu(device) => testgen_gpu::memory_cleanup(*device),
    }
}
