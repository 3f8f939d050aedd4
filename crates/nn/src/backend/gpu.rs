//! `Ops` for GPUs: burn's operators, except for the shapes of matrix products.

use super::{Gpu, Ops, padded_product::padded_product};
use burn::{DispatchDevice, tensor::ops::FloatTensor};
use testgen_types::DeviceKind;

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

    fn matmul_op(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        padded_product::<Self>(left, right)
    }
}
