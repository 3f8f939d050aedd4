//! Memory and copies.

use crate::{device_of, put, simulator};
use hip_sim::{Copy2d, HipError, guarded};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

/// `hipMallocAsync`.
///
/// # Safety
///
/// `pointer` can be written; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(
    pointer: *mut *mut c_void,
    size: usize,
    stream: *mut c_void,
) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { put(pointer, simulator()?.allocate(device_of(stream), size)?) })
}

/// `hipFreeAsync`.
///
/// # Safety
///
/// `stream` is null or a stream; nothing uses the memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeAsync(pointer: *mut c_void, stream: *mut c_void) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| simulator()?.release(unsafe { device_of(stream) }, pointer))
}

/// Host memory by address, with the layout that freeing it needs.
// `hipFreeHost` does not pass a size.
static HOST: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// `hipHostMalloc`: memory of the host, which does not count towards the device's memory.
///
/// # Safety
///
/// `pointer` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(
    pointer: *mut *mut c_void,
    size: usize,
    _flags: c_uint,
) -> u32 {
    guarded(|| {
        // An allocation of 0 bytes has an address as well, and is freed later.
        let layout =
            Layout::from_size_align(size.max(1), 256).map_err(|_| HipError::InvalidValue)?;
        // SAFETY: the layout has at least one byte.
        let address = unsafe { alloc_zeroed(layout) };
        if address.is_null() {
            return Err(HipError::OutOfMemory);
        }
        HOST.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address as usize, layout);
        // SAFETY: as the caller promises.
        unsafe { put(pointer, address.cast()) }
    })
}

/// `hipFreeHost`.
///
/// # Safety
///
/// Nothing uses the memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFreeHost(pointer: *mut c_void) -> u32 {
    guarded(|| {
        let layout = HOST
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&(pointer as usize));
        // SAFETY: the address came from `alloc_zeroed` with this layout, and was in the map until
        // now.
        layout
            .map(|layout| unsafe { dealloc(pointer.cast(), layout) })
            .ok_or(HipError::InvalidValue)
    })
}

/// `hipMemcpyHtoDAsync`.
///
/// # Safety
///
/// `from` can be read for `size` bytes; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    stream: *mut c_void,
) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { simulator()?.copy_to_device(device_of(stream), to, from, size) })
}

/// `hipMemcpyDtoHAsync`.
///
/// # Safety
///
/// `to` can be written for `size` bytes; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    stream: *mut c_void,
) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { simulator()?.copy_to_host(device_of(stream), to, from, size) })
}

/// `hipMemcpyPeer`.
///
/// # Safety
///
/// As [`Simulator::copy_between`](hip_sim::Simulator::copy_between).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeer(
    to: *mut c_void,
    to_device: c_int,
    from: *const c_void,
    from_device: c_int,
    size: usize,
) -> u32 {
    guarded(|| {
        let [to_device, from_device] =
            [to_device, from_device].map(|device| u32::try_from(device).ok());
        let devices = to_device.zip(from_device).ok_or(HipError::InvalidDevice)?;
        simulator()?.copy_between((devices.0, to), (devices.1, from), size)
    })
}

/// `hipMemcpy2DAsync`. The kind of copy is ignored: device memory is host memory here.
///
/// # Safety
///
/// All rows can be read and written; `stream` is null or a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DAsync(
    to: *mut c_void,
    to_pitch: usize,
    from: *const c_void,
    from_pitch: usize,
    width: usize,
    height: usize,
    _kind: c_uint,
    stream: *mut c_void,
) -> u32 {
    let copy = Copy2d {
        to,
        to_pitch,
        from,
        from_pitch,
        width,
        height,
    };
    // SAFETY: as the caller promises.
    guarded(|| unsafe { simulator()?.copy_rows(device_of(stream), &copy) })
}
