//! A device in the terms of its backend.

use burn::backend::flex::FlexDevice;

/// The device in the terms of its backend.
#[derive(Debug, Clone)]
pub enum BackendDevice {
    /// burn's Flex.
    Cpu(FlexDevice),
    /// burn's Dispatch: CUDA or ROCm.
    #[cfg(any(feature = "cuda", feature = "rocm"))]
    Gpu(burn::DispatchDevice),
}
