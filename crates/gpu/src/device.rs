//! A GPU, by the interface that drives it.

use burn_backend::DeviceOps;
use cubecl::device::{Device, DeviceId};

/// A GPU as its interface numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GpuDevice {
    /// Of the CUDA driver.
    Cuda(u16),
    /// Of the HIP runtime.
    Rocm(u16),
}

impl Default for GpuDevice {
    fn default() -> Self {
        Self::Cuda(0)
    }
}

/// The type of a device in cubecl's identifiers, which name its threads as well.
const CUDA: u16 = 0;
const ROCM: u16 = 1;

impl Device for GpuDevice {
    fn from_id(id: DeviceId) -> Self {
        match id.type_id {
            ROCM => Self::Rocm(id.index_id),
            _ => Self::Cuda(id.index_id),
        }
    }

    fn to_id(&self) -> DeviceId {
        match *self {
            Self::Cuda(index) => DeviceId::new(CUDA, index),
            Self::Rocm(index) => DeviceId::new(ROCM, index),
        }
    }
}

impl DeviceOps for GpuDevice {}
