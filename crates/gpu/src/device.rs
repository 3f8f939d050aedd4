//! A GPU, by the interface that drives it and by what multiplies matrices on it.

use burn_backend::DeviceOps;
use cubecl::device::{Device, DeviceId};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use testgen_types::DeviceKind;

/// A GPU as its interface numbers it. The same GPU with another source of products is another
/// device to burn, with its own thread and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GpuDevice {
    interface: GpuInterface,
    index: u16,
    products: ProductSource,
}

/// The interface of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GpuInterface {
    /// The CUDA driver.
    Cuda,
    /// The HIP runtime.
    Rocm,
}

/// The source of matrix products of floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProductSource {
    /// cubek's kernels, by rule.
    Kernels,
    /// The vendor's library.
    Library,
}

impl Default for GpuDevice {
    fn default() -> Self {
        Self::cuda(0)
    }
}

/// The part of cubecl's identifier of a device that also names its thread: a bit for the
/// interface, and one for the source of products.
const ROCM: u16 = 1;
// A bit of the type and not of the index: burn sees another device, the driver the same GPU.
const LIBRARY: u16 = 2;

impl Device for GpuDevice {
    fn from_id(id: DeviceId) -> Self {
        let interface = match id.type_id & ROCM {
            0 => GpuInterface::Cuda,
            _ => GpuInterface::Rocm,
        };
        let products = match id.type_id & LIBRARY {
            0 => ProductSource::Kernels,
            _ => ProductSource::Library,
        };
        Self {
            interface,
            index: id.index_id,
            products,
        }
    }

    fn to_id(&self) -> DeviceId {
        let interface = match self.interface {
            GpuInterface::Cuda => 0,
            GpuInterface::Rocm => ROCM,
        };
        let products = match self.products {
            ProductSource::Kernels => 0,
            ProductSource::Library => LIBRARY,
        };
        DeviceId::new(interface | products, self.index)
    }
}

impl DeviceOps for GpuDevice {}

/// The devices whose architecture has no matrix units although cubecl says so.
static WITHOUT_MATRIX_UNITS: Mutex<Option<HashSet<GpuDevice>>> = Mutex::new(None);

impl GpuDevice {
    /// The GPU with this number of the CUDA driver.
    pub const fn cuda(index: u16) -> Self {
        Self {
            interface: GpuInterface::Cuda,
            index,
            products: ProductSource::Kernels,
        }
    }

    /// The GPU with this number of the HIP runtime.
    pub const fn rocm(index: u16) -> Self {
        Self {
            interface: GpuInterface::Rocm,
            ..Self::cuda(index)
        }
    }

    /// The same GPU, on which `products` multiplies matrices.
    #[must_use]
    pub const fn with_products(self, products: ProductSource) -> Self {
        Self { products, ..self }
    }

    /// The GPU `distance` places after this one in the ring of the `count` GPUs of its interface.
    #[must_use]
    pub const fn after(self, distance: u16, count: u16) -> Self {
        Self {
            index: (self.index + distance) % count,
            ..self
        }
    }

    /// The source of matrix products.
    pub const fn products(self) -> ProductSource {
        self.products
    }

    /// The interface.
    pub const fn interface(self) -> GpuInterface {
        self.interface
    }

    /// The number among the GPUs of its interface.
    pub const fn index(self) -> u16 {
        self.index
    }

    /// The kind of device.
    pub const fn kind(self) -> DeviceKind {
        match self.interface {
            GpuInterface::Cuda => DeviceKind::Cuda,
            GpuInterface::Rocm => DeviceKind::Rocm,
        }
    }

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
    use super::{GpuDevice, ProductSource};
    use cubecl::device::Device as _;

    #[test]
    fn every_device_has_an_identifier() {
        let mut ids = std::collections::HashSet::new();
        for device in [GpuDevice::cuda(3), GpuDevice::rocm(3)] {
            for products in [ProductSource::Kernels, ProductSource::Library] {
                let device = device.with_products(products);
                assert_eq!(GpuDevice::from_id(device.to_id()), device);
                assert!(ids.insert(device.to_id()));
            }
        }
    }

    #[test]
    fn devices_follow_each_other_in_a_ring_of_their_interface() {
        let ring = |first: GpuDevice, count| {
            let after = |distance| first.after(distance, count);
            (0..4).map(after).collect::<Vec<_>>()
        };
        let rocm = [2, 3, 0, 1].map(GpuDevice::rocm);
        assert_eq!(ring(GpuDevice::rocm(2), 4), rocm);
        assert_eq!(ring(GpuDevice::cuda(0), 1), [GpuDevice::cuda(0); 4]);
    }

    #[test]
    fn rdna_2_has_no_matrix_units() {
        for (device, architecture) in [
            (GpuDevice::rocm(7), "gfx1030"),
            (GpuDevice::rocm(8), "gfx1100"),
        ] {
            device.state_architecture(architecture);
        }
        assert!(GpuDevice::rocm(7).lacks_matrix_units());
        assert!(!GpuDevice::rocm(8).lacks_matrix_units());
    }
}
