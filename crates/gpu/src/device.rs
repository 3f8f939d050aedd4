//! A GPU, by the interface that drives it.

use burn_backend::DeviceOps;
use cubecl::device::{Device, DeviceId};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

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

/// The devices whose architecture has no matrix units although cubecl says so.
static WITHOUT_MATRIX_UNITS: Mutex<Option<HashSet<GpuDevice>>> = Mutex::new(None);

impl GpuDevice {
    /// States the architecture, for instance `gfx1030`, before the first product on the device.
    ///
    /// cubecl-cpp 0.10 (`hip/arch.rs`) takes RDNA 1 and 2 for architectures with matrix units;
    /// AMD's compiler refuses their instructions there.
    pub fn state_architecture(self, architecture: &str) {
        if architecture.starts_with("gfx10") {
            let mut devices = WITHOUT_MATRIX_UNITS
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            devices.get_or_insert_default().insert(self);
        }
    }

    pub(crate) fn lacks_matrix_units(self) -> bool {
        let devices = WITHOUT_MATRIX_UNITS
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        devices
            .as_ref()
            .is_some_and(|devices| devices.contains(&self))
    }
}

#[cfg(test)]
mod tests {
    use super::GpuDevice;

    #[test]
    fn rdna_2_has_no_matrix_units() {
        for (device, architecture) in [
            (GpuDevice::Rocm(7), "gfx1030"),
            (GpuDevice::Rocm(8), "gfx1100"),
        ] {
            device.state_architecture(architecture);
        }
        assert!(GpuDevice::Rocm(7).lacks_matrix_units());
        assert!(!GpuDevice::Rocm(8).lacks_matrix_units());
    }
}
