//! A library that computes with memory of other code in the same process, in order with that
//! code's work on the device.

use crate::{
    blas::{Algorithm, BlasError, Buffers, PartialSums},
    library::LibraryName,
    open::{OpenLibraryError, Opened, open_at},
    product::GemmCall,
};
use testgen_device::{DeviceKind, System};

/// The library of a vendor on one of its devices, for the streams of other code.
///
/// It belongs to the thread that opened it.
pub struct ProductLibrary {
    opened: Opened,
}

impl ProductLibrary {
    /// The library that programs on a kind of GPU multiply matrices with: cuBLAS or rocBLAS.
    pub const fn name(device: DeviceKind) -> Option<LibraryName> {
        match device {
            DeviceKind::Cuda => Some(LibraryName::Cublas),
            DeviceKind::Rocm => Some(LibraryName::Rocblas),
            DeviceKind::Cpu => None,
        }
    }

    /// Opens `library` on the device with this number among the visible ones of its kind.
    ///
    /// # Errors
    ///
    /// The library or the driver is not found, or fails.
    pub fn open(library: LibraryName, index: u32) -> Result<Self, OpenLibraryError> {
        let opened = open_at(&System::host(), library, index, PartialSums::Single)?;
        Ok(Self { opened })
    }

    /// The version, as the library reports it.
    pub fn version(&self) -> &str {
        self.opened.blas.version()
    }

    /// Starts products with the algorithm that the library prefers. They begin after all earlier
    /// work of the device, and later work begins after them.
    ///
    /// `wait` waits for that earlier work on the host; it is called where the driver cannot order
    /// streams that it is not given.
    ///
    /// # Errors
    ///
    /// When the library refuses a product, or the driver fails.
    pub fn multiply(
        &self,
        products: &[(GemmCall, Buffers)],
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), ProductLibraryError> {
        let gpu = &self.opened.gpu;
        gpu.make_current().map_err(BlasError::from)?;
        if !gpu.wait_for_device().map_err(BlasError::from)? {
            wait().map_err(ProductLibraryError::EarlierWork)?;
        }
        for (product, buffers) in products {
            let algorithm = Algorithm::chosen_by_library();
            self.opened.blas.run(product, &algorithm, *buffers)?;
        }
        Ok(gpu.let_device_wait().map_err(BlasError::from)?)
    }
}

/// Why a product was not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProductLibraryError {
    /// The library or the driver failed.
    #[error(transparent)]
    Blas(#[from] BlasError),
    /// What the product waited for failed.
    #[error("work before a product of the library failed: {0}")]
    EarlierWork(String),
}
