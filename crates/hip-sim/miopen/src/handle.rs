//! The handle of the library, and its version.

use crate::numbers::{MiopenStatus, create, destroy, guarded};
use std::ffi::{c_int, c_void};

/// A handle, which keeps no state.
struct MiopenHandle;

/// The version that is simulated: ROCm 6.3.
const VERSION: [usize; 3] = [3, 3, 0];

/// `miopenCreateWithStream`. Nothing is computed later than its call, so the stream is ignored.
///
/// # Safety
///
/// `handle` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreateWithStream(
    handle: *mut *mut c_void,
    _stream: *mut c_void,
) -> c_int {
    // A structure without size has an address that is not null, and freeing it does nothing.
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(handle, MiopenHandle) })
}

/// `miopenDestroy`.
///
/// # Safety
///
/// `handle` came from [`miopenCreateWithStream`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroy(handle: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<MiopenHandle>(handle) })
}

/// `miopenGetVersion`.
///
/// # Safety
///
/// The three numbers can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenGetVersion(
    major: *mut usize,
    minor: *mut usize,
    patch: *mut usize,
) -> c_int {
    guarded(|| {
        for (place, number) in [major, minor, patch].into_iter().zip(VERSION) {
            if place.is_null() {
                return Err(MiopenStatus::BadParm);
            }
            // SAFETY: as the caller promises.
            unsafe { place.write(number) };
        }
        Ok(())
    })
}
