//! A detected device in the terms of its backend.

use super::super::error::{OpenError, OpenStep};
use burn_flex::FlexDevice;
use testgen_device::{DetectionPath, Device};
use testgen_nn::device::BackendDevice;

/// The source of matrix products on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Products {
    Kernels,
    Library,
}

#[cfg(any(feature = "cuda", feature = "rocm"))]
impl Products {
    const fn source(self) -> testgen_gpu::ProductSource {
        match self {
            Self::Kernels => testgen_gpu::ProductSource::Kernels,
            Self::Library => testgen_gpu::ProductSource::Library,
        }
    }
}

/// The device in the terms of its backend.
#[cfg_attr(
    not(any(feature = "cuda", feature = "rocm")),
    expect(unused_variables, reason = "as with GPUs")
)]
pub(super) fn of_device(device: &Device, products: Products) -> Result<BackendDevice, OpenError> {
    match device.path {
        DetectionPath::HostProcessor => Ok(BackendDevice::Cpu(FlexDevice)),
        // A device that only an engine's library lists has no driver that burn could open.
        DetectionPath::Engine => Err(OpenError::failed(
            device,
            OpenStep::Backend,
            "only an engine lists it",
        )),
        #[cfg(feature = "rocm")]
        DetectionPath::HipRuntime => {
            let gpu = testgen_gpu::GpuDevice::rocm(device.index as u16);
            let gpu = gpu.with_products(products.source());
            // Before any product: cubecl takes RDNA 1 and 2 for architectures with matrix units.
            gpu.state_architecture(device.architecture.as_deref().unwrap_or_default());
            Ok(BackendDevice::Gpu(gpu))
        }
        #[cfg(feature = "cuda")]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => Ok(BackendDevice::Gpu(
            testgen_gpu::GpuDevice::cuda(device.index as u16).with_products(products.source()),
        )),
        #[cfg(not(feature = "rocm"))]
        DetectionPath::HipRuntime => Err(OpenError::not_built(device, "rocm")),
        #[cfg(not(feature = "cuda"))]
        DetectionPath::CudaDriver | DetectionPath::CudaCompatibility => {
            Err(OpenError::not_built(device, "cuda"))
        }
    }
}
