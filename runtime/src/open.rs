//! Opening a detected device with burn, behind the known-answer half of the preflight.

use burn::backend::flex::FlexDevice;
use testgen_device::Device;

/// A device that burn computes on, proven by a known answer.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    pub(crate) facts: Device,
    pub(crate) backend: BackendDevice,
    /// Whether f32 products may be computed in TF32.
    pub(crate) tf32: bool,
}

/// The device in the terms of its backend.
#[derive(Debug, Clone)]
pub(crate) enum BackendDevice {
    /// burn's Flex.
    Cpu(FlexDevice),
    /// burn's Dispatch: CUDA or ROCm.
    #[cfg(any(feature = "cuda", feature = "rocm"))]
    Gpu(burn::DispatchDevice),
}
