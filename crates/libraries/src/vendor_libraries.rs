//! The libraries of a GPU's vendor, computing with memory of other code in the same process, in
//! order with that code's work on the device.
//!
//! Owns: which libraries these are, and the order of streams. Does not own: the choice of
//! algorithms, which is in `product_libraries`, `convolutions` and `tuner`.

mod bias;
mod convolution_trial;
mod convolutions;
mod product_libraries;
mod product_trial;
mod stopwatch;
mod trial_numbers;
mod tunable_convolution;
mod tunable_product;
mod tuner;

pub use tuner::Tuning;

use crate::{
    blas::{Blas, Buffers, PartialSums},
    convolution_library::ConvolutionBuffers,
    convolution_problem::ConvolutionProblem,
    gpu::LibraryGpu,
    library::LibraryName,
    library_error::LibraryError,
    open::{OpenLibraryError, Opened, OpenedLibrary, open_at},
    product::GemmCall,
};
use convolutions::Convolutions;
use product_libraries::ProductLibraries;
use std::rc::Rc;
use testgen_device::{DeviceKind, System};
use tuner::Tuner;

/// The libraries of a vendor on one of its devices, for the streams of other code.
///
/// They belong to the thread that opened them.
pub struct VendorLibraries {
    gpu: Rc<dyn LibraryGpu>,
    products: ProductLibraries,
    /// `None` if the library of convolutions is not installed.
    convolutions: Option<Convolutions>,
    tuner: Option<Tuner>,
}

impl VendorLibraries {
    /// Opens the libraries that programs on a kind of GPU compute with, on the device with this
    /// number among the visible ones of its kind: cuBLAS, cuBLASLt and cuDNN, or rocBLAS, hipBLASLt
    /// and MIOpen. Without cuDNN and MIOpen, which are installed separately, there are no
    /// convolutions.
    ///
    /// # Errors
    ///
    /// The library of products or the driver is not found, or one of them fails.
    pub fn open(
        device: DeviceKind,
        index: u32,
        tuning: Option<Tuning>,
    ) -> Result<Self, OpenLibraryError> {
        let (products, light, convolutions) = match device {
            DeviceKind::Cuda => (
                LibraryName::Cublas,
                LibraryName::CublasLt,
                LibraryName::Cudnn,
            ),
            DeviceKind::Rocm => (
                LibraryName::Rocblas,
                LibraryName::HipblasLt,
                LibraryName::Miopen,
            ),
            DeviceKind::Cpu => {
                return Err(LibraryError::unsupported("a CPU has no vendor's library").into());
            }
        };
        let Opened { gpu, library, .. } = open(products, index)?;
        let mut products = products_of(library);
        // Optional: without it, a product with a bias becomes two products (`BiasProducts`).
        if let Some(opened) = if_installed(open(light, index))? {
            products.extend(products_of(opened.library));
        }
        let convolutions = if_installed(open(convolutions, index))?;
        Ok(Self {
            gpu,
            products: ProductLibraries::new(products),
            convolutions: convolutions.and_then(|opened| convolutions_of(opened.library)),
            tuner: tuning.map(Tuner::new),
        })
    }

    /// Names and versions of all libraries, for instance `cublas 12.8.4, cudnn 9.1.0`, the user's
    /// variables that tune them, and how algorithms are chosen if not by the libraries.
    pub fn versions(&self) -> String {
        let convolutions = self.convolution_versions().unwrap_or_default();
        self.with_label([self.product_versions(), convolutions].concat())
    }

    /// As [`versions`](Self::versions), of the libraries that multiply matrices.
    pub fn products(&self) -> String {
        self.with_label(self.product_versions())
    }

    /// As [`versions`](Self::versions), of the library that computes convolutions, if it is
    /// installed.
    pub fn convolutions(&self) -> Option<String> {
        Some(self.with_label(self.convolution_versions()?))
    }

    fn product_versions(&self) -> Vec<String> {
        let libraries = self.products.libraries();
        let names = libraries.iter();
        let names = names.map(|library| library.name().with_version(library.version()));
        // The libraries of a vendor have the same variables.
        names.chain(libraries[0].name().tuning()).collect()
    }

    fn convolution_versions(&self) -> Option<Vec<String>> {
        let library = self.convolutions.as_ref()?.library();
        let name = library.name().with_version(library.version());
        Some([vec![name], library.name().tuning()].concat())
    }

    fn with_label(&self, mut versions: Vec<String>) -> String {
        versions.extend(self.tuner.as_ref().map(Tuner::label));
        versions.join(", ")
    }

    /// Starts products with the algorithm that the library prefers, or as they were tuned. The only
    /// step after a product may be a bias. They begin after all earlier work of the device, and later
    /// work begins after them.
    ///
    /// `wait` waits for that earlier work on the host; it is called if the driver cannot order
    /// streams that it is not given.
    ///
    /// # Errors
    ///
    /// The library refuses a product, or the driver fails.
    pub fn multiply(
        &self,
        products: &[(GemmCall, Buffers)],
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), VendorLibraryError> {
        let (gpu, tuner) = (&*self.gpu, self.tuner.as_ref());
        self.in_order(wait, || {
            products
                .iter()
                .try_for_each(|(product, buffers)| self.products.run(gpu, tuner, product, *buffers))
        })
    }

    /// Starts a convolution of dense tensors with the first algorithm that the library prefers, or
    /// as it was tuned, in the same order as [`multiply`](Self::multiply). The workspace of
    /// `buffers` is not read.
    ///
    /// # Errors
    ///
    /// The library is not installed, offers no algorithm or fails, or the driver fails.
    pub fn convolve(
        &self,
        problem: &ConvolutionProblem,
        buffers: ConvolutionBuffers,
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), VendorLibraryError> {
        let Some(convolutions) = &self.convolutions else {
            let missing = LibraryError::unsupported("no library of convolutions is installed");
            return Err(missing.into());
        };
        let (gpu, tuner) = (&*self.gpu, self.tuner.as_ref());
        self.in_order(wait, || convolutions.run(gpu, tuner, problem, buffers))
    }

    /// Runs `start` so that what it starts is between earlier and later work of the device.
    fn in_order(
        &self,
        wait: impl FnOnce() -> Result<(), String>,
        start: impl FnOnce() -> Result<(), LibraryError>,
    ) -> Result<(), VendorLibraryError> {
        let gpu = &self.gpu;
        // Other code on this thread may have made another device the current one, and the libraries
        // compute on that.
        gpu.make_current().map_err(LibraryError::from)?;
        if !gpu.wait_for_device().map_err(LibraryError::from)? {
            wait().map_err(VendorLibraryError::EarlierWork)?;
        }
        start()?;
        Ok(gpu.let_device_wait().map_err(LibraryError::from)?)
    }
}

fn open(library: LibraryName, index: u32) -> Result<Opened, OpenLibraryError> {
    // Parts of sums are added in f32, as PyTorch does without its reduced-precision options.
    open_at(&System::host(), library, index, PartialSums::Single)
}

/// `None` for a library that is not installed.
fn if_installed(
    opened: Result<Opened, OpenLibraryError>,
) -> Result<Option<Opened>, OpenLibraryError> {
    match opened {
        Err(OpenLibraryError::NotFound(_)) => Ok(None),
        opened => opened.map(Some),
    }
}

fn products_of(library: OpenedLibrary) -> Vec<Box<dyn Blas>> {
    match library {
        OpenedLibrary::Products(blas) => vec![blas],
        OpenedLibrary::Convolutions(_) => Vec::new(),
    }
}

fn convolutions_of(library: OpenedLibrary) -> Option<Convolutions> {
    match library {
        OpenedLibrary::Convolutions(library) => Some(Convolutions::new(library)),
        OpenedLibrary::Products(_) => None,
    }
}

/// Why a library of the vendor did not compute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VendorLibraryError {
    /// The library or the driver failed.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// Work that the call waited for failed.
    #[error("work before a call of the library failed: {0}")]
    EarlierWork(String),
}
