//! Opening a library on a device.

use crate::{
    blas::{Blas, PartialSums},
    classic::{Cublas, Rocblas},
    convolution_library::ConvolutionLibrary,
    dnn::{Cudnn, Miopen},
    gpu::{self, GpuError, LibraryGpu},
    library::{self, LibraryName, LibraryNotFound},
    library_error::LibraryError,
    lt::{CUBLASLT, HIPBLASLT, Lt},
};
use std::rc::Rc;
use testgen_device::{Device, System};

/// A library that was opened on a device.
pub struct Opened {
    /// The driver of the device.
    pub gpu: Rc<dyn LibraryGpu>,
    /// The library.
    pub library: OpenedLibrary,
    /// The file of the library.
    pub path: String,
}

/// A library by what it computes.
pub enum OpenedLibrary {
    /// Matrix products.
    Products(Box<dyn Blas>),
    /// Convolutions.
    Convolutions(Box<dyn ConvolutionLibrary>),
}

impl Opened {
    /// The library's name.
    pub fn name(&self) -> LibraryName {
        match &self.library {
            OpenedLibrary::Products(blas) => blas.name(),
            OpenedLibrary::Convolutions(library) => library.name(),
        }
    }

    /// The library's version, as it reports it.
    pub fn version(&self) -> &str {
        match &self.library {
            OpenedLibrary::Products(blas) => blas.version(),
            OpenedLibrary::Convolutions(library) => library.version(),
        }
    }
}

/// Why a library was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenLibraryError {
    /// It is not installed: a reason to ignore its checks.
    #[error(transparent)]
    NotFound(#[from] LibraryNotFound),
    /// The driver of the device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The library failed, or lacks a function.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The device is of another vendor.
    #[error("{library} computes on {} devices, not on `{device}`", library.device())]
    OtherVendor {
        /// The library.
        library: LibraryName,
        /// The device's name.
        device: String,
    },
}

/// Opens `library` on `device`, both as this machine has them, with sums in f32 or as the library
/// prefers.
///
/// # Errors
///
/// The library or the driver is not found or fails, or the device is of another vendor.
pub fn open(
    system: &System,
    library: LibraryName,
    device: &Device,
    sums: PartialSums,
) -> Result<Opened, OpenLibraryError> {
    if library.device() != device.kind {
        return Err(OpenLibraryError::OtherVendor {
            library,
            device: device.name.clone(),
        });
    }
    open_at(system, library, device.index, sums)
}

/// Opens the library for the device with this number among the devices of its kind.
pub(crate) fn open_at(
    system: &System,
    library: LibraryName,
    index: u32,
    sums: PartialSums,
) -> Result<Opened, OpenLibraryError> {
    let file = library::open(system, library)?;
    let gpu: Rc<dyn LibraryGpu> = Rc::from(gpu::open(system, library.device(), index)?);
    let library = match library {
        LibraryName::Cublas => products(Cublas::open(&file, Rc::clone(&gpu), sums)?),
        LibraryName::CublasLt => products(Lt::open(&file, &CUBLASLT, Rc::clone(&gpu), sums)?),
        LibraryName::Rocblas => products(Rocblas::open(&file, Rc::clone(&gpu))?),
        LibraryName::HipblasLt => products(Lt::open(&file, &HIPBLASLT, Rc::clone(&gpu), sums)?),
        LibraryName::Cudnn => convolutions(Cudnn::open(&file, Rc::clone(&gpu))?),
        LibraryName::Miopen => convolutions(Miopen::open(&file, Rc::clone(&gpu))?),
    };
    Ok(Opened {
        gpu,
        library,
        path: file.path().to_owned(),
    })
}

fn products(blas: impl Blas + 'static) -> OpenedLibrary {
    OpenedLibrary::Products(Box::new(blas))
}

fn convolutions(library: impl ConvolutionLibrary + 'static) -> OpenedLibrary {
    OpenedLibrary::Convolutions(Box::new(library))
}
