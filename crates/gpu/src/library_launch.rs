//! Calls of the vendor's libraries, on the thread of a device's server.
//!
//! Owns the libraries that are open there. Plain data otherwise: what to call, and where the
//! matrices begin.

use crate::device::GpuDevice;
use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};
use testgen_libraries::{
    Buffers, ConvolutionBuffers, ConvolutionProblem, DeviceAddress, GemmCall, OpenLibraryError,
    Tuning, VendorLibraries, VendorLibraryError,
};

/// The libraries of each device, with what their computations are tuned by.
type KnownLibraries = HashMap<GpuDevice, (OpenedLibraries, Option<Tuning>)>;

fn libraries() -> MutexGuard<'static, KnownLibraries> {
    static LIBRARIES: LazyLock<Mutex<KnownLibraries>> = LazyLock::new(Mutex::default);
    LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    /// The libraries on the device whose server runs on this thread.
    static OPENED: RefCell<Option<VendorLibraries>> = const { RefCell::new(None) };
}

/// The libraries of a device, as reports and fingerprints name them: `cublas 12.8.4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedLibraries {
    /// All of them.
    pub versions: Arc<str>,
    /// The libraries that multiply matrices.
    pub products: Arc<str>,
    /// The library that computes convolutions, if it is installed.
    pub convolutions: Option<Arc<str>>,
}

impl GpuDevice {
    /// Opens the libraries that compute on the device, tuned by `tuning`. To be called before the
    /// first computation; later calls return the libraries of the first one.
    ///
    /// # Errors
    ///
    /// The library of products is not found, or one of them fails.
    pub fn open_libraries(
        self,
        tuning: Option<Tuning>,
    ) -> Result<OpenedLibraries, OpenLibraryError> {
        let mut libraries = libraries();
        if let Some((known, _)) = libraries.get(&self) {
            return Ok(known.clone());
        }
        // Opened to see that they work and for their versions; the thread of the server opens its
        // own.
        let opened = self.open(tuning.clone())?;
        let described = OpenedLibraries {
            versions: opened.versions().into(),
            products: opened.products().into(),
            convolutions: opened.convolutions().map(Into::into),
        };
        libraries.insert(self, (described.clone(), tuning));
        Ok(described)
    }

    /// The libraries of a device that computes with them.
    pub(crate) fn opened_libraries(self) -> OpenedLibraries {
        // Only the first device of a model whose layers are on several was opened before.
        let tuning = libraries().values().find_map(|(_, tuning)| tuning.clone());
        // Kernels in their place would have another name than the column.
        self.open_libraries(tuning)
            .unwrap_or_else(|error| panic!("a library that was open: {error}"))
    }

    fn open(self, tuning: Option<Tuning>) -> Result<VendorLibraries, OpenLibraryError> {
        VendorLibraries::open(self.kind(), u32::from(self.index()), tuning)
    }
}

/// A computation of a library in the place of a kernel. Its buffers are two inputs, the result, and
/// the bias of a product with one.
#[derive(Debug, Clone)]
pub(crate) struct LibraryLaunch {
    pub(crate) device: GpuDevice,
    /// Its name and version.
    pub(crate) library: Arc<str>,
    pub(crate) computation: LibraryComputation,
}

/// The computation of a library.
#[derive(Debug, Clone)]
pub(crate) enum LibraryComputation {
    /// A matrix product: the calls that compute it, and the bytes of an element.
    Product {
        calls: Vec<LibraryCall>,
        element: usize,
    },
    /// A convolution.
    Convolution(ConvolutionProblem),
}

/// One call: what is computed, and where each matrix begins, in elements from the beginning of its
/// tensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LibraryCall {
    pub(crate) gemm: GemmCall,
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) output: usize,
}

impl LibraryLaunch {
    /// Starts it on the thread of the device's server; `addresses` belong to its buffers, `wait`
    /// waits for earlier work.
    pub(crate) fn start(
        &self,
        addresses: &[u64],
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        OPENED.with_borrow_mut(|opened| {
            // At the first call on this thread, because a thread-local value cannot be handed over
            // by the thread that opened the device.
            if opened.is_none() {
                let tuning = libraries()
                    .get(&self.device)
                    .and_then(|(_, tuning)| tuning.clone());
                let libraries = self.device.open(tuning);
                *opened = Some(libraries.map_err(|error| error.to_string())?);
            }
            let opened = opened.as_ref().expect("they were opened");
            let addresses: Vec<_> = addresses.iter().copied().map(DeviceAddress).collect();
            self.computation
                .start(opened, &addresses, wait)
                .map_err(|error| error.to_string())
        })
    }
}

impl LibraryComputation {
    fn start(
        &self,
        libraries: &VendorLibraries,
        addresses: &[DeviceAddress],
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), VendorLibraryError> {
        let &[first, second, output, ref rest @ ..] = addresses else {
            unreachable!("a computation has two inputs and a result");
        };
        match self {
            Self::Product { calls, element } => {
                let bias = rest.first().copied().unwrap_or(DeviceAddress(0));
                let buffers = |call: &LibraryCall| {
                    let result = output.offset(call.output * element);
                    // A row-major product is the transpose of the library's.
                    let a = second.offset(call.right * element);
                    let b = first.offset(call.left * element);
                    Buffers {
                        bias,
                        ..Buffers::new([a, b, result, result])
                    }
                };
                let products: Vec<_> = calls
                    .iter()
                    .map(|call| (call.gemm.clone(), buffers(call)))
                    .collect();
                libraries.multiply(&products, wait)
            }
            Self::Convolution(problem) => {
                let buffers = ConvolutionBuffers {
                    x: first,
                    weight: second,
                    y: output,
                    // The library's own is used.
                    workspace: DeviceAddress(0),
                };
                libraries.convolve(problem, buffers, wait)
            }
        }
    }
}
