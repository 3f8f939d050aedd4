//! The foreign calls into NVML, `libnvidia-ml`: free memory and the driver's version without a CUDA
//! context.

use crate::library::SharedLibrary;
use crate::system::System;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

type NoArguments = unsafe extern "C" fn() -> c_int;
type HandleByAddress = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
type NvmlMemoryInfo = unsafe extern "C" fn(*mut c_void, *mut NvmlMemory) -> c_int;
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
    let memory = memory(&library, address);
    let is_whole =
        |memory: &NvmlMemory| expected_total.is_none_or(|total| total >= memory.total / 10 * 9);
    let free = memory.filter(is_whole).map(|memory| memory.free);
    let managed = Managed {
        free,
        driver_version: driver_version(&library),
    };
    // SAFETY: NVML was initialised above.
    unsafe { stop() };
    Some(managed)
}

fn memory(library: &SharedLibrary, address: &str) -> Option<NvmlMemory> {
    let address = CString::new(address).ok()?;
    let mut handle = std::ptr::null_mut();
    let mut memory = NvmlMemory::default();
    // SAFETY: the types are the C signatures of `nvml.h`; NVML is initialised; `address` ends in
    // zero, `handle` and `memory` are writable, and the handle is used only when the first call
    // returned it.
    let status = unsafe {
        let by_address = library.function::<HandleByAddress>("nvmlDeviceGetHandleByPciBusId_v2")?;
        let memory_info = library.function::<NvmlMemoryInfo>("nvmlDeviceGetMemoryInfo")?;
        match by_address(address.as_ptr(), &mut handle) {
            0 => memory_info(handle, &mut memory),
            status => status,
        }
    };
    (status == 0 && memory.used <= memory.total).then_some(memory)
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
