//! Devices: their number, their properties, and the current one.

use crate::driver::SUCCESS;
use crate::{CURRENT, answer, driver, in_context};
use hip_sim::{DeviceModel, DeviceProperties, Faults, HipError, SimulatedArchitecture};
use std::ffi::{c_char, c_int, c_uint};

/// The architecture that the device reports.
// Waves of 32 are like NVIDIA's warps, and CUDA does not have matrix instructions in AMD's layout.
const ARCHITECTURE: SimulatedArchitecture = SimulatedArchitecture::Gfx1030;

/// `hipInit`.
#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> u32 {
    answer(driver().map(|_| SUCCESS))
}

/// `hipGetDeviceCount`.
///
/// # Safety
///
/// `count` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> u32 {
    // SAFETY: as the caller promises.
    answer(driver().map(|driver| unsafe { (driver.device_count)(count) }))
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
    let filled = model(device)
        .map(|model| DeviceProperties::new(&model, device.unsigned_abs(), &Faults::default()));
    // SAFETY: as the caller promises.
    answer(
        filled
            .map(|filled| unsafe { properties.write(filled) })
            .map(|()| SUCCESS),
    )
}

/// `hipSetDevice`.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> u32 {
    CURRENT.set((device, false));
    answer(in_context().map(|_| SUCCESS))
}

/// `hipSetDeviceFlags`. Ignored: the flags only control how the host waits.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDeviceFlags(_flags: c_uint) -> u32 {
    0
}

/// `hipRuntimeGetVersion`: 6.4, with the version of the CUDA driver as patch number.
///
/// # Safety
///
/// `version` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> u32 {
    answer(driver().map(|driver| {
        let mut cuda = 0;
        // SAFETY: as the caller promises, and `cuda` can be written.
        unsafe {
            let status = (driver.driver_version)(&mut cuda);
            version.write(60_400_000 + cuda);
            status
        }
    }))
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
    // SAFETY: as the caller promises.
    answer(in_context().map(|driver| unsafe { (driver.memory_info)(free, total) }))
}

/// The device as HIP reports it. The vendor is removed from its name: detection rejects NVIDIA
/// names on the HIP path.
fn model(device: c_int) -> Result<DeviceModel, HipError> {
    let driver = driver()?;
    let (mut name, mut memory): ([c_char; 200], usize) = ([0; 200], 0);
    // SAFETY: both can be written, the name for the length that is passed; the driver returns an
    // error for an invalid ordinal.
    let status = unsafe {
        match (driver.device_name)(name.as_mut_ptr(), 199, device) {
            SUCCESS => (driver.total_memory)(&mut memory, device),
            status => status,
        }
    };
    if status != SUCCESS {
        return Err(HipError::InvalidDevice);
    }
    let name: String = name
        .iter()
        .take_while(|byte| **byte != 0)
        .map(|byte| *byte as u8 as char)
        .collect();
    let gpu = name
        .trim_start_matches("NVIDIA ")
        .trim_start_matches("Tesla ");
    let name = format!("AMD {ARCHITECTURE} emulated by CUDA on {gpu}");
    Ok(DeviceModel {
        memory: memory as u64,
        name,
        ..DeviceModel::new(ARCHITECTURE)
    })
}
