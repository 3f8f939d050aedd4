//! NVML, `libnvidia-ml`, while it is initialised, and the handle of a GPU.

use crate::library::SharedLibrary;
use crate::system::System;
use std::ffi::{CString, c_char, c_int, c_void};

type NoArguments = unsafe extern "C" fn() -> c_int;
type HandleByAddress = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;

/// NVML, which is shut down on drop. Handles are valid until then.
pub(super) struct ManagementSession {
    library: SharedLibrary,
    stop: NoArguments,
}

impl ManagementSession {
    /// Initialises NVML; `None` when it is not installed, or does not start.
    pub(super) fn start(system: &System) -> Option<Self> {
        // Drivers install the first name; the second one is a link of development packages.
        let candidates = ["libnvidia-ml.so.1", "libnvidia-ml.so"]
            .map(|file| system.loader_candidates(file))
            .concat();
        let library = SharedLibrary::open(&candidates).ok()?;
        // SAFETY: both functions take no arguments and return a status.
        let (start, stop) = unsafe {
            (
                library.function::<NoArguments>("nvmlInit_v2")?,
                library.function::<NoArguments>("nvmlShutdown")?,
            )
        };
        // SAFETY: NVML counts its users; the one shutdown on drop matches this initialisation.
        (unsafe { start() } == 0).then_some(Self { library, stop })
    }

    /// The library.
    pub(super) fn library(&self) -> &SharedLibrary {
        &self.library
    }

    /// The handle of the GPU at a PCI address, which is valid as long as this session.
    pub(super) fn handle(&self, address: &str) -> Option<*mut c_void> {
        let address = CString::new(address).ok()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the type is the C signature of `nvml.h`; NVML is initialised; `address` ends in
        // zero, and `handle` is writable.
        let status = unsafe {
            let by_address = self
                .library
                .function::<HandleByAddress>("nvmlDeviceGetHandleByPciBusId_v2")?;
            by_address(address.as_ptr(), &mut handle)
        };
        (status == 0).then_some(handle)
    }
}

impl Drop for ManagementSession {
    fn drop(&mut self) {
        // SAFETY: NVML was initialised by `start`, and nothing uses its handles any more.
        unsafe { (self.stop)() };
    }
}
