//! The foreign calls into NVML, `libnvidia-ml`: free memory, clocks and the driver's version
//! without a CUDA context.

use super::management_session::ManagementSession;
use crate::library::SharedLibrary;
use crate::system::System;
use std::ffi::{c_char, c_int, c_uint, c_void};

type NvmlMemoryInfo = unsafe extern "C" fn(*mut c_void, *mut NvmlMemory) -> c_int;
type ClockInfo = unsafe extern "C" fn(*mut c_void, c_uint, *mut c_uint) -> c_int;
type DriverVersion = unsafe extern "C" fn(*mut c_char, c_uint) -> c_int;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Default)]
struct NvmlMemory {
    total: u64,
    free: u64,
    used: u64,
}

/// The facts that NVML reports about one GPU.
pub(super) struct Managed {
    /// Free bytes.
    pub(super) free: Option<u64>,
    /// `580.159.04`.
    pub(super) driver_version: Option<String>,
}

/// Queries NVML for the GPU at a PCI address; `None` when NVML is not installed.
pub(super) fn query(
    system: &System,
    address: &str,
    expected_total: Option<u64>,
) -> Option<Managed> {
    let session = ManagementSession::start(system)?;
    // For an instance of a partitioned GPU (MIG), NVML reports the memory of the whole GPU: free
    // memory is omitted when `expected_total`, the CUDA driver's total, is below nine tenths of
    // NVML's.
    let is_whole =
        |memory: &NvmlMemory| expected_total.is_none_or(|total| total >= memory.total / 10 * 9);
    Some(Managed {
        free: memory(&session, address)
            .filter(is_whole)
            .map(|memory| memory.free),
        driver_version: driver_version(session.library()),
    })
}

/// The clocks of the multiprocessors of a GPU, in MHz.
pub(super) struct Clocks {
    pub(super) now: Option<u32>,
    pub(super) highest: Option<u32>,
}

/// Queries NVML for the clocks of the GPU at a PCI address; `None` when NVML is not installed, or
/// does not have the GPU.
pub(super) fn clocks(system: &System, address: &str) -> Option<Clocks> {
    let session = ManagementSession::start(system)?;
    let (library, handle) = (session.library(), session.handle(address)?);
    Some(Clocks {
        now: clock(library, handle, "nvmlDeviceGetClockInfo"),
        highest: clock(library, handle, "nvmlDeviceGetMaxClockInfo"),
    })
}

fn memory(session: &ManagementSession, address: &str) -> Option<NvmlMemory> {
    let (library, handle) = (session.library(), session.handle(address)?);
    let mut memory = NvmlMemory::default();
    // SAFETY: the type is the C signature of `nvml.h`; NVML is initialised and has returned the
    // handle; `memory` is writable.
    let status = unsafe {
        library.function::<NvmlMemoryInfo>("nvmlDeviceGetMemoryInfo")?(handle, &mut memory)
    };
    (status == 0 && memory.used <= memory.total).then_some(memory)
}

/// `NVML_CLOCK_SM`.
const CLOCK_OF_MULTIPROCESSORS: c_uint = 1;

/// The clock that `function` reports, in MHz.
fn clock(library: &SharedLibrary, handle: *mut c_void, function: &str) -> Option<u32> {
    let mut clock = 0;
    // SAFETY: both functions have this C signature in `nvml.h`; NVML is initialised and has
    // returned the handle; `clock` is writable.
    let status = unsafe {
        library.function::<ClockInfo>(function)?(handle, CLOCK_OF_MULTIPROCESSORS, &mut clock)
    };
    (status == 0 && clock > 0).then_some(clock)
}

fn driver_version(library: &SharedLibrary) -> Option<String> {
    let mut version = [0_u8; 96];
    // SAFETY: the type is the C signature of `nvml.h`; NVML is initialised; the buffer's length,
    // less one, is passed.
    let status = unsafe {
        library.function::<DriverVersion>("nvmlSystemGetDriverVersion")?(
            version.as_mut_ptr().cast(),
            95,
        )
    };
    let end = version.iter().position(|byte| *byte == 0)?;
    (status == 0 && end > 0).then(|| String::from_utf8_lossy(&version[..end]).into_owned())
}
