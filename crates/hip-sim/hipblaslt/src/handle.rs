//! The handle of the library, and its version.

use crate::numbers::{HipblasStatus, create, destroy, guarded};
use std::ffi::{c_int, c_void};

/// A handle, which keeps no state.
struct LtHandle;

/// The version that is simulated: ROCm 6.3, as major * 100000 + minor * 100 + patch.
const VERSION: c_int = 1000;

/// `hipblasLtCreate`.
///
/// # Safety
///
/// `handle` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtCreate(handle: *mut *mut c_void) -> c_int {
    // A structure without size has an address that is not null, and freeing it does nothing.
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(handle, LtHandle) })
}

/// `hipblasLtDestroy`.
///
/// # Safety
///
/// `handle` came from [`hipblasLtCreate`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtDestroy(handle: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<LtHandle>(handle) })
}

/// `hipblasLtGetVersion`.
///
/// # Safety
///
/// `version` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtGetVersion(handle: *mut c_void, version: *mut c_int) -> c_int {
    guarded(|| {
        if handle.is_null() {
            return Err(HipblasStatus::NotInitialized);
        }
        if version.is_null() {
            return Err(HipblasStatus::InvalidValue);
        }
        // SAFETY: as the caller promises.
        unsafe { version.write(VERSION) };
        Ok(())
    })
}
