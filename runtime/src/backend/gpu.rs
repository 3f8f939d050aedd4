//! `Ops` for GPUs: burn's operators as they are.

use super::{Gpu, Ops};
use burn::DispatchDevice;
use testgen_contract::DeviceKind;

impl Ops for Gpu {
    fn kind(device: &DispatchDevice) -> DeviceKind {
        match device {
            #[cfg(feature = "cuda")]
            DispatchDevice::Cuda(_) => DeviceKind::Cuda,
            #[cfg(feature = "rocm")]
            DispatchDevice::Rocm(_) => DeviceKind::Rocm,
            DispatchDevice::Flex(_) => DeviceKind::Cpu,
        }
    }
}
