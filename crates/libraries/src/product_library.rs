//! A library that computes with memory of other code in the same process, in order with that
//! code's work on the device.

use crate::{
    blas::{Algorithm, Blas, Buffers, PartialSums},
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::LibraryError,
    open::{OpenLibraryError, OpenedLibrary, open_at},
    product::GemmCall,
};
use std::rc::Rc;
use testgen_device::{DeviceKind, System};

/// The library of a vendor on one of its devices, for the streams of other code.
///
/// It belongs to the thread that opened it.
pub struct ProductLibrary {
    gpu: Rc<dyn LibraryGpu>,
    blas: Box<dyn Blas>,
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
        match opened.library {
            OpenedLibrary::Products(blas) => Ok(Self {
                gpu: opened.gpu,
                blas,
            }),
            OpenedLibrary::Convolutions(_) => Err(LibraryError::Unsupported {
                reason: format!("{library} multiplies no matrices"),
            }
            .into()),
        }
    }

    /// The version, as the library reports it.
    pub fn version(&self) -> &str {
        self.blas.version()
    }

    /// Starts products with the algorithm that the library prefers. They begin after all earlier
    /// work of the device, and later work begins after them.
    ///
    /// `wait` waits for that earlier work on the host; it is called if the driver cannot order
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
        let gpu = &self.gpu;
        gpu.make_current().map_err(LibraryError::from)?;
        if !gpu.wait_for_device().map_err(LibraryError::from)? {
            wait().map_err(ProductLibraryError::EarlierWork)?;
        }
        for (product, buffers) in products {
            let algorithm = Algorithm::chosen_by_library();
            self.blas.run(product, &algorithm, *buffers)?;
        }
        Ok(gpu.let_device_wait().map_err(LibraryError::from)?)
    }
}

/// Why a product was not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProductLibraryError {
    /// The library or the driver failed.
    #[error(transparent)]
    Blas(#[from] LibraryError),
    /// Work that the product waited for failed.
    #[error("work before a product of the library failed: {0}")]
    EarlierWork(String),
}
