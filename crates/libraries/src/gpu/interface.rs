//! The interface of a GPU's driver, with its errors.

use super::account::Account;
use crate::library::LibraryNotFound;
use std::fmt;

/// An address in the memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceAddress(pub u64);

impl DeviceAddress {
    /// The address `bytes` later.
    #[must_use]
    pub fn offset(self, bytes: usize) -> Self {
        Self(self.0 + bytes as u64)
    }

    pub(crate) fn pointer(self) -> *mut std::ffi::c_void {
        self.0 as *mut std::ffi::c_void
    }
}

/// A GPU. Each call makes it the current device of the calling thread, as the libraries require.
pub trait LibraryGpu {
    /// Makes the device current on the calling thread.
    ///
    /// # Errors
    ///
    /// When the driver fails.
    fn make_current(&self) -> Result<(), GpuError>;

    /// Allocates `bytes`, which have arbitrary contents, aligned to 256 bytes.
    ///
    /// # Errors
    ///
    /// When not enough memory is free.
    fn allocate(&self, bytes: usize) -> Result<DeviceAddress, GpuError>;

    /// Releases an allocation of `bytes`.
    ///
    /// # Errors
    ///
    /// When it is not an allocation.
    fn release(&self, address: DeviceAddress, bytes: usize) -> Result<(), GpuError>;

    /// Copies from the host, and waits.
    ///
    /// # Errors
    ///
    /// When the driver fails.
    fn upload(&self, to: DeviceAddress, from: &[u8]) -> Result<(), GpuError>;

    /// Copies to the host, after all work that was started before.
    ///
    /// # Errors
    ///
    /// When the driver fails, also because of a kernel that was started before.
    fn download(&self, from: DeviceAddress, to: &mut [u8]) -> Result<(), GpuError>;

    /// Waits for all work.
    ///
    /// # Errors
    ///
    /// When a kernel that was started before failed.
    fn synchronise(&self) -> Result<(), GpuError>;

    /// Makes the default stream wait for all work that any stream of the device was given before.
    /// False if the driver cannot: the caller waits for that work.
    ///
    /// # Errors
    ///
    /// When the driver fails.
    fn wait_for_device(&self) -> Result<bool, GpuError> {
        Ok(false)
    }

    /// Makes all work that is given to any stream of the device later wait for the default stream.
    ///
    /// # Errors
    ///
    /// When the driver fails.
    fn let_device_wait(&self) -> Result<(), GpuError> {
        self.synchronise()
    }

    /// The bytes that were allocated through it.
    fn account(&self) -> &Account;
}

/// A function of a driver that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// A status other than success.
    #[error("{function} returned {code}")]
    Status {
        /// The function.
        function: &'static str,
        /// The number.
        code: i32,
    },
    /// A function that the driver must have is missing.
    #[error("`{library}` lacks `{symbol}`; install a newer driver")]
    Symbol {
        /// The file.
        library: String,
        /// The function.
        symbol: &'static str,
    },
    /// The driver is not installed.
    #[error(transparent)]
    NotFound(#[from] LibraryNotFound),
}

impl GpuError {
    /// Whether memory was exhausted: the same number in both interfaces.
    pub fn is_out_of_memory(&self) -> bool {
        // `CUDA_ERROR_OUT_OF_MEMORY` and `hipErrorOutOfMemory`.
        matches!(self, Self::Status { code: 2, .. })
    }
}

pub(crate) fn check(function: &'static str, code: i32) -> Result<(), GpuError> {
    if code == 0 {
        Ok(())
    } else {
        Err(GpuError::Status { function, code })
    }
}

impl fmt::Display for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
