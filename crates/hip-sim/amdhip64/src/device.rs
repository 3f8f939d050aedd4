//! Devices: their number, their properties, and the current one.

use crate::{CURRENT, put, simulator};
use hip_sim::{DeviceProperties, HipError, guarded};
use std::ffi::{c_char, c_int, c_uint};

/// `hipInit`.
#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> u32 {
    guarded(|| simulator().map(drop))
}

/// `hipGetDeviceCount`.
///
/// # Safety
///
/// `count` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> u32 {
    guarded(|| {
        // The error is returned after 0 is written: callers read the count in both cases.
        let found = simulator()?.device_count();
        // SAFETY: as the caller promises.
        unsafe { put(count, found.unwrap_or(0).cast_signed()) }?;
        found.map(drop)
    })
}

/// `hipGetDevicePropertiesR0600`.
///
/// # Safety
///
/// `properties` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(
    properties: *mut DeviceProperties,
    device: c_int,
) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { put(properties, simulator()?.properties(ordinal(device))?) })
}

/// `hipSetDevice`.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> u32 {
    guarded(|| {
        simulator()?.model(ordinal(device))?;
        CURRENT.set(ordinal(device));
        Ok(())
    })
}

/// `hipSetDeviceFlags`. Ignored: the flags control how the host waits, and it never waits here.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDeviceFlags(_flags: c_uint) -> u32 {
    0
}

/// `hipDeviceGetName`.
///
/// # Safety
///
/// `name` can be written for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe {
        put_text(
            name,
            length,
            &simulator()?.model(ordinal(device))?.marked_name(),
        )
    })
}

/// `hipDeviceGetPCIBusId`.
///
/// # Safety
///
/// `address` can be written for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(
    address: *mut c_char,
    length: c_int,
    device: c_int,
) -> u32 {
    // SAFETY: as the caller promises.
    guarded(|| unsafe {
        put_text(
            address,
            length,
            &simulator()?.model(ordinal(device))?.pci_address,
        )
    })
}

/// `hipRuntimeGetVersion`.
///
/// # Safety
///
/// `version` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> u32 {
    guarded(|| {
        let [major, minor, patch] = simulator()?.configuration().version;
        // SAFETY: as the caller promises.
        unsafe {
            put(
                version,
                (major * 10_000_000 + minor * 100_000 + patch).cast_signed(),
            )
        }
    })
}

/// `hipDriverGetVersion`.
///
/// # Safety
///
/// `version` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { hipRuntimeGetVersion(version) }
}

/// `hipMemGetInfo`.
///
/// # Safety
///
/// Both can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> u32 {
    guarded(|| {
        let (free_bytes, total_bytes) = simulator()?.memory_info(CURRENT.get())?;
        // SAFETY: as the caller promises.
        unsafe { put(free, free_bytes).and_then(|()| put(total, total_bytes)) }
    })
}

/// The ordinal as an unsigned number; a negative one becomes an invalid ordinal.
fn ordinal(device: c_int) -> u32 {
    u32::try_from(device).unwrap_or(u32::MAX)
}

unsafe fn put_text(place: *mut c_char, length: c_int, text: &str) -> Result<(), HipError> {
    let room = usize::try_from(length)
        .ok()
        .filter(|room| *room > 0 && !place.is_null())
        .ok_or(HipError::InvalidValue)?;
    for (index, byte) in text.bytes().take(room - 1).chain([0]).enumerate() {
        // SAFETY: at most `room` bytes are written.
        unsafe { place.add(index).write(byte as c_char) };
    }
    Ok(())
}
