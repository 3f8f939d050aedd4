//! The foreign calls into NVML, `libnvidia-ml`: free memory, clocks and the driver's version
//! without a CUDA context.

use crate::library::SharedLibrary;
use crate::system::System;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

type NoArguments = unsafe extern "C" fn() -> c_int;
type HandleByAddress = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
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
///
/// For an instance of a partitioned GPU (MIG), NVML reports the memory of the whole GPU: free
/// memory is omitted when `expected_total`, the CUDA driver's total, is below nine tenths of
/// NVML's.
pub(super) fn query(
    system: &System,
    address: &str,
    expected_total: Option<u64>,
) -> Option<Managed> {
    session(system, |library| {
        let memory = memory(library, address);
        let is_whole =
            |memory: &NvmlMemory| expected_total.is_none_or(|total| total >= memory.total / 10 * 9);
        Managed {
            free: memory.filter(is_whole).map(|memory| memory.free),
            driver_version: driver_version(library),
        }
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
    session(system, |library| {
        let handle = handle(library, address)?;
        Some(Clocks {
            now: clock(library, handle, "nvmlDeviceGetClockInfo"),
            highest: clock(library, handle, "nvmlDeviceGetMaxClockInfo"),
        })
    })?
}

/// Runs `query` while NVML is initialised; `None` when it is not installed, or does not start.
fn session<T>(system: &System, query: impl FnOnce(&SharedLibrary) -> T) -> Option<T> {
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
    // SAFETY: NVML counts its users; the one shutdown below matches this initialisation.
    if unsafe { start() } != 0 {
        return None;
    }
    // Handles are valid until the shutdown, so that all queries are within the session.
    let result = query(&library);
    // SAFETY: NVML was initialised above.
    unsafe { stop() };
    Some(result)
}

/// The handle of the GPU at a PCI address, which is valid while NVML is initialised.
fn handle(library: &SharedLibrary, address: &str) -> Option<*mut c_void> {
    let address = CString::new(address).ok()?;
    let mut handle = std::ptr::null_mut();
    // SAFETY: the type is the C signature of `nvml.h`; NVML is initialised; `address` ends in zero,
    // and `handle` is writable.
    let status = unsafe {
        let by_address = library.function::<HandleByAddress>("nvmlDeviceGetHandleByPciBusId_v2")?;
        by_address(address.as_ptr(), &mut handle)
    };
    (status == 0).then_some(handle)
}

fn memory(library: &SharedLibrary, address: &str) -> Option<NvmlMemory> {
    let handle = handle(library, address)?;
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
