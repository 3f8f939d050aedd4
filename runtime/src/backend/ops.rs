//! Operations with a plain burn default and a faster CPU kernel.

use burn::tensor::backend::Backend;
use testgen_contract::DeviceKind;

/// A backend that models can be written for.
pub(crate) trait Ops: Backend {
    /// The kind of device that a tensor of this backend says it is on.
    fn kind(device: &Self::Device) -> DeviceKind;
}

impl Ops for crate::backend::Cpu {
    fn kind(_: &Self::Device) -> DeviceKind {
        DeviceKind::Cpu
    }
}

impl Ops for crate::backend::Gpu {
    fn kind(device: &Self::Device) -> DeviceKind {
        match device {
            #[cfg(feature = "cuda")]
            burn::DispatchDevice::Cuda(_) => DeviceKind::Cuda,
            #[cfg(feature = "rocm")]
            burn::DispatchDevice::Rocm(_) => DeviceKind::Rocm,
            burn::DispatchDevice::Flex(_) => DeviceKind::Cpu,
        }
    }
}
