//! The libraries of a GPU's vendor, computing with memory of other code in the same process, in
//! order with that code's work on the device.
//!
//! Owns: which libraries these are, and the order of streams. Does not own: the choice of
//! algorithms, which is in `convolutions` and `tuner`.

mod bias;
mod convolutions;
mod preferred;
mod trial;
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
use bias::BiasProducts;
use convolutions::Convolutions;
use preferred::PreferredAlgorithms;
use std::rc::Rc;
use testgen_device::{DeviceKind, System};
use tuner::{ChosenAlgorithm, Tuner};

/// The libraries of a vendor on one of its devices, for the streams of other code.
///
/// They belong to the thread that opened them.
pub struct VendorLibraries {
    gpu: Rc<dyn LibraryGpu>,
    /// cuBLAS or rocBLAS, then cuBLASLt or hipBLASLt if it is installed. The first one multiplies,
    /// unless a tuner prefers the other; the second one adds a bias in the same kernel.
    products: Vec<Box<dyn Blas>>,
    preferred: PreferredAlgorithms,
    biased: BiasProducts,
    tuner: Option<Tuner>,
    /// `None` if the library of convolutions is not installed.
    convolutions: Option<Convolutions>,
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
        let opened = open(products, index)?;
        let mut libraries = Self {
            gpu: opened.gpu,
            products: products_of(opened.library),
            preferred: PreferredAlgorithms::default(),
            biased: BiasProducts::default(),
            tuner: tuning.map(Tuner::new),
            convolutions: None,
        };
        if let Some(opened) = if_installed(open(light, index))? {
            libraries.products.extend(products_of(opened.library));
        }
        if let Some(opened) = if_installed(open(convolutions, index))? {
            libraries.convolutions = convolutions_of(opened.library);
        }
        Ok(libraries)
    }

    /// Names and versions of the libraries that multiply matrices, for instance `cublas 12.8.4`,
    /// the user's variables that tune them, and how algorithms are chosen if not by the library.
    pub fn products(&self) -> String {
        let names = self.products.iter();
        let names = names.map(|library| library.name().with_version(library.version()));
        // The libraries of a vendor have the same variables.
        let variables = self.products[0].name().tuning();
        let label = self.tuner.as_ref().map(Tuner::label);
        let parts = names.chain(variables).chain(label);
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Name and version of the library that computes convolutions, if it is installed, and the
    /// user's variables that tune it.
    pub fn convolutions(&self) -> Option<String> {
        let library = self.convolutions.as_ref()?.library();
        let name = library.name().with_version(library.version());
        let parts = [vec![name], library.name().tuning()].concat();
        Some(parts.join(", "))
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
        self.in_order(wait, || {
            products
                .iter()
                .try_for_each(|(product, buffers)| self.start(product, *buffers))
        })
    }

    fn start(&self, product: &GemmCall, buffers: Buffers) -> Result<(), LibraryError> {
        match self.choose(product, &buffers)? {
            Some(ChosenAlgorithm { library, algorithm }) => {
                self.products[library].run(product, &algorithm, buffers)
            }
            None => self
                .biased
                .run(&*self.gpu, &*self.products[0], product, buffers),
        }
    }

    /// The algorithm of a product, or `None` if no library has one with its bias.
    fn choose(
        &self,
        product: &GemmCall,
        buffers: &Buffers,
    ) -> Result<Option<ChosenAlgorithm>, LibraryError> {
        // A list has algorithms of aligned matrices; a library that chooses looks at the addresses.
        let lists = buffers.are_aligned();
        if let Some(tuner) = &self.tuner
            && lists
            && let Some(tuned) = tuner.choose(&self.gpu, &self.products, product)?
        {
            return Ok(Some(tuned));
        }
        if product.is_plain() {
            return Ok(Some(ChosenAlgorithm::by_library()));
        }
        let light = self.products.get(1).filter(|_| lists);
        let Some(light) = light else { return Ok(None) };
        let preferred = self.preferred.choose(&**light, product)?;
        Ok(preferred.map(|algorithm| ChosenAlgorithm {
            library: 1,
            algorithm,
        }))
    }

    /// Starts a convolution of dense tensors, in the same order as [`multiply`](Self::multiply).
    /// The workspace of `buffers` is not read.
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
        self.in_order(wait, || convolutions.run(&*self.gpu, problem, buffers))
    }

    /// Runs `start` so that what it starts is between earlier and later work of the device.
    fn in_order(
        &self,
        wait: impl FnOnce() -> Result<(), String>,
        start: impl FnOnce() -> Result<(), LibraryError>,
    ) -> Result<(), VendorLibraryError> {
        let gpu = &self.gpu;
        gpu.make_current().map_err(LibraryError::from)?;
        if !gpu.wait_for_device().map_err(LibraryError::from)? {
            wait().map_err(VendorLibraryError::EarlierWork)?;
        }
        start()?;
        Ok(gpu.let_device_wait().map_err(LibraryError::from)?)
    }
}

fn open(library: LibraryName, index: u32) -> Result<Opened, OpenLibraryError> {
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
