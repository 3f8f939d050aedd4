//! Calls of a vendor's library, on the thread of a device's server.
//!
//! Owns the library that is open there. Plain data otherwise: what to call, and where the matrices
//! begin.

use crate::device::GpuDevice;
use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use testgen_libraries::{
    Buffers, DeviceAddress, GemmCall, LibraryName, OpenLibraryError, ProductLibrary,
};

/// The library of each device, as its fingerprints name it: `cublas 12.8.4`.
static LIBRARIES: Mutex<Option<HashMap<GpuDevice, Arc<str>>>> = Mutex::new(None);

thread_local! {
    /// The library on the device whose server runs on this thread.
    static OPENED: RefCell<Option<ProductLibrary>> = const { RefCell::new(None) };
}

impl GpuDevice {
    /// Opens the library that multiplies matrices on the device, and returns its name and version.
    /// To be called before the first product.
    ///
    /// # Errors
    ///
    /// The library is not found, or fails.
    pub fn open_library(self) -> Result<Arc<str>, OpenLibraryError> {
        let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        let libraries = libraries.get_or_insert_default();
        if let Some(known) = libraries.get(&self) {
            return Ok(Arc::clone(known));
        }
        // Opened to see that it works and for its version; the thread of the server opens its own.
        let library = open(self)?;
        let described: Arc<str> = format!("{} {}", name(self), library.version()).into();
        libraries.insert(self, Arc::clone(&described));
        Ok(described)
    }
}

fn name(device: GpuDevice) -> LibraryName {
    ProductLibrary::name(device.kind()).expect("a GPU has a vendor")
}

fn open(device: GpuDevice) -> Result<ProductLibrary, OpenLibraryError> {
    ProductLibrary::open(name(device), u32::from(device.index()))
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

/// A product in the place of a kernel. Its buffers are the left factor, the right one and the
/// result.
#[derive(Debug, Clone)]
pub(crate) struct LibraryLaunch {
    pub(crate) device: GpuDevice,
    /// Its name and version.
    pub(crate) library: Arc<str>,
    pub(crate) calls: Vec<LibraryCall>,
    /// The bytes of an element.
    pub(crate) element: usize,
}

impl LibraryLaunch {
    /// Starts it on the thread of the device's server; `addresses` belong to its buffers, `wait`
    /// waits for earlier work.
    pub(crate) fn start(
        &self,
        addresses: [u64; 3],
        wait: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let size = self.element;
        let [left, right, output] = addresses.map(DeviceAddress);
        let products: Vec<_> = self
            .calls
            .iter()
            .map(|call| {
                let result = output.offset(call.output * size);
                let buffers = Buffers {
                    a: right.offset(call.right * size),
                    b: left.offset(call.left * size),
                    c: result,
                    d: result,
                };
                (call.gemm.clone(), buffers)
            })
            .collect();
        OPENED.with_borrow_mut(|opened| {
            if opened.is_none() {
                *opened = Some(open(self.device).map_err(|error| error.to_string())?);
            }
            let library = opened.as_ref().expect("it was opened");
            library
                .multiply(&products, wait)
                .map_err(|error| error.to_string())
        })
    }
}
