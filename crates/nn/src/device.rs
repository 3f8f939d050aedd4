//! A device in the terms of its backend.

use burn_flex::FlexDevice;

/// The device in the terms of its backend.
#[derive(Debug, Clone)]
pub enum BackendDevice {
    /// burn's Flex.
    Cpu(FlexDevice),
    /// testgen-gpu: CUDA or ROCm.
    #[cfg(any(feature = "cuda", feature = "rocm"))]
    Gpu(testgen_gpu::GpuDevice),
}
