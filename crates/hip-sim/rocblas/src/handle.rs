//! The handle of the library, and its version.

use crate::numbers::{DEFAULT_MATH, RocblasStatus, XF32_MATH, guarded};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

/// The state that a handle keeps.
#[derive(Debug, Default)]
pub(crate) struct RocblasHandle {
    /// Whether products of f32 round their factors.
    pub(crate) xf32: Cell<bool>,
}

/// The version that is simulated: ROCm 6.3.
const VERSION: &[u8] = b"4.3.0.hip-sim\0";

/// The handle at an address.
///
/// # Safety
///
/// `handle` is null or came from [`rocblas_create_handle`].
pub(crate) unsafe fn handle_at<'a>(
    handle: *mut c_void,
) -> Result<&'a RocblasHandle, RocblasStatus> {
    // SAFETY: as the caller promises.
    unsafe { handle.cast::<RocblasHandle>().as_ref() }.ok_or(RocblasStatus::InvalidHandle)
}

/// `rocblas_create_handle`.
///
/// # Safety
///
/// `handle` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_create_handle(handle: *mut *mut c_void) -> c_int {
    guarded(|| {
        if handle.is_null() {
            return Err(RocblasStatus::InvalidHandle);
        }
        // SAFETY: as the caller promises.
        unsafe { handle.write(Box::into_raw(Box::new(RocblasHandle::default())).cast()) };
        Ok(())
    })
}

/// `rocblas_destroy_handle`.
///
/// # Safety
///
/// `handle` came from [`rocblas_create_handle`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_destroy_handle(handle: *mut c_void) -> c_int {
    guarded(|| {
        if handle.is_null() {
            return Err(RocblasStatus::InvalidHandle);
        }
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(handle.cast::<RocblasHandle>()) });
        Ok(())
    })
}

/// `rocblas_get_version_string`.
///
/// # Safety
///
/// `text` can be written for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_get_version_string(text: *mut c_char, length: usize) -> c_int {
    guarded(|| {
        if text.is_null() {
            return Err(RocblasStatus::InvalidPointer);
        }
        if length < VERSION.len() {
            return Err(RocblasStatus::InvalidSize);
        }
        // SAFETY: as the caller promises; the length was compared.
        unsafe { std::ptr::copy_nonoverlapping(VERSION.as_ptr().cast(), text, VERSION.len()) };
        Ok(())
    })
}

/// `rocblas_set_math_mode`.
///
/// # Safety
///
/// `handle` is null or came from [`rocblas_create_handle`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_set_math_mode(handle: *mut c_void, mode: c_int) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let handle = unsafe { handle_at(handle)? };
        match mode {
            DEFAULT_MATH => handle.xf32.set(false),
            XF32_MATH => handle.xf32.set(true),
            _ => return Err(RocblasStatus::InvalidValue),
        }
        Ok(())
    })
}

/// `rocblas_atomics_not_allowed` and `rocblas_atomics_allowed`.
const MODES: [c_int; 2] = [0, 1];

/// `rocblas_set_atomics_mode`. Nothing to do: sums are always in the same order.
///
/// # Safety
///
/// `handle` is null or came from [`rocblas_create_handle`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_set_atomics_mode(handle: *mut c_void, mode: c_int) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { handle_at(handle)? };
        if MODES.contains(&mode) {
            Ok(())
        } else {
            Err(RocblasStatus::InvalidValue)
        }
    })
}
