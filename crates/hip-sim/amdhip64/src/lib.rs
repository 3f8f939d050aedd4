//! The simulated `libamdhip64`: the functions of HIP that burn's ROCm backend and testgen's
//! detection call.
//!
//! Each has the C signature of `hip_runtime_api.h` and only passes its arguments on. Every
//! operation is complete when its call returns, so a stream only holds its device and an event
//! holds nothing.

pub mod device;
pub mod execution;
pub mod transfer;

use hip_sim::{Configuration, HipError, Simulator};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::OnceLock;

thread_local! {
    /// The current device, which in HIP belongs to a thread.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// The version of the simulator, major * 10^4 + minor * 10^2 + patch. No other HIP runtime has this
/// symbol, so it identifies a simulation even if a device name has been changed.
#[unsafe(no_mangle)]
pub extern "C" fn hipSimVersion() -> c_int {
    100
}

/// The simulator of this process, created on the first call.
fn simulator() -> Result<&'static Simulator, HipError> {
    static SIMULATOR: OnceLock<Option<Simulator>> = OnceLock::new();
    let simulator = SIMULATOR.get_or_init(|| match Configuration::from_environment() {
        Ok(configuration) => {
            if configuration.statistics.is_some() {
                // SAFETY: the function belongs to this library, which burn never unloads.
                unsafe { atexit(write_statistics) };
            }
            Some(Simulator::new(configuration))
        }
        Err(error) => {
            // HIP has no status for a bad variable, and callers show only the number of a status.
            eprintln!("hip-sim: {error}");
            None
        }
    });
    simulator.as_ref().ok_or(HipError::NotInitialized)
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn write_statistics() {
    let Ok(simulator) = simulator() else { return };
    let Some(path) = &simulator.configuration().statistics else {
        return;
    };
    let file = std::fs::OpenOptions::new()
        .create(true)
        // Every process of a run writes a line to the same file.
        .append(true)
        .open(path);
    // Ignored: the process is ending, so an error cannot be reported.
    let _ = file.and_then(|mut file| writeln!(file, "{}", simulator.statistics()));
}

/// The ordinal of a stream's device; the thread's current device for the null stream.
///
/// # Safety
///
/// `stream` is null or came from [`execution::hipStreamCreateWithFlags`].
unsafe fn device_of(stream: *mut c_void) -> u32 {
    // SAFETY: as the caller promises.
    let stream = unsafe { stream.cast::<hip_sim::Stream>().as_ref() };
    stream.map_or_else(|| CURRENT.get(), |stream| stream.device)
}

/// Writes a result through a pointer of the caller.
///
/// # Safety
///
/// `place` is null or can be written.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), HipError> {
    if place.is_null() {
        return Err(HipError::InvalidValue);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}
