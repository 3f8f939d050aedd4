//! Memory and copies.

use crate::driver::{Handle, SUCCESS};
use crate::{answer, in_context};
use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

/// `hipMallocAsync`.
///
/// # Safety
///
/// `pointer` can be written; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(pointer: *mut Handle, size: usize, stream: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.allocate)(pointer, size, stream) }))
}

/// `hipFreeAsync`.
///
/// # Safety
///
/// `pointer` came from [`hipMallocAsync`]; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeAsync(pointer: Handle, stream: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.release)(pointer, stream) }))
}

/// `hipHostMalloc`. The memory is mapped into the device, which is CUDA's default.
///
/// # Safety
///
/// `pointer` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(pointer: *mut Handle, size: usize, _flags: c_uint) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.allocate_host)(pointer, size, 0) }))
}

/// `hipFreeHost`.
///
/// # Safety
///
/// `pointer` came from [`hipHostMalloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeHost(pointer: Handle) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.release_host)(pointer) }))
}

/// `hipMemcpyHtoDAsync`.
///
/// # Safety
///
/// Both can be accessed for `size` bytes until the stream has completed the copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: Handle,
    from: *const c_void,
    size: usize,
    stream: Handle,
) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.copy_to_device)(to, from, size, stream) }))
}

/// `hipMemcpyDtoHAsync`.
///
/// # Safety
///
/// Both can be accessed for `size` bytes until the stream has completed the copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: Handle,
    size: usize,
    stream: Handle,
) -> u32 {
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.copy_to_host)(to, from, size, stream) }))
}

/// `hipMemcpyPeer`: the driver finds the devices by the addresses.
///
/// # Safety
///
/// Both can be accessed for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeer(
    to: Handle,
    _to_device: c_int,
    from: Handle,
    _from_device: c_int,
    size: usize,
) -> u32 {
    let default = ptr::null_mut();
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe {
        match (driver.copy)(to, from, size, default) {
            // Unlike the driver's function, `hipMemcpyPeer` returns when the copy is complete.
            SUCCESS => (driver.synchronize_stream)(default),
            status => status,
        }
    }))
}

/// `hipMemcpy2DAsync`, row by row: the driver infers the direction from the addresses.
///
/// # Safety
///
/// All rows can be accessed until the stream has completed the copy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *mut c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    _kind: c_uint,
    stream: Handle,
) -> u32 {
    answer(in_context().map(|driver| {
        // SAFETY: as the caller promises.
        let row = |row: usize| unsafe {
            let (to, from) = (
                to.cast::<u8>().add(row * to_pitch),
                from.cast::<u8>().add(row * from_pitch),
            );
            (driver.copy)(to.cast(), from.cast(), width, stream)
        };
        (0..height)
            .map(row)
            .find(|status| *status != SUCCESS)
            .unwrap_or(SUCCESS)
    }))
}
