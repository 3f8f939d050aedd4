//! The simulated `libamdhip64`: the functions of HIP that burn's ROCm backend and testgen's detection call.
//!
//! Each has the C signature of `hip_runtime_api.h` and does no more than hand its arguments on. Everything is done when
//! a call returns, so streams carry their device and events nothing.

pub mod device;
pub mod execution;
pub mod transfer;

use hip_sim::{Configuration, Simulator, Status};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io::Write;
use std::sync::OnceLock;

thread_local! {
    /// The current device, which in HIP belongs to a thread.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// The version of the simulator, major * 10^4 + minor * 10^2 + patch. No other HIP runtime has this symbol, so it tells a
/// simulation even where a name has been changed.
#[unsafe(no_mangle)]
pub extern "C" fn hipSimVersion() -> c_int {
    100
}

/// The simulator of this process, made at the first call.
fn simulator() -> Result<&'static Simulator, Status> {
    static SIMULATOR: OnceLock<Option<Simulator>> = OnceLock::new();
    let simulator = SIMULATOR.get_or_init(|| match Configuration::from_environment() {
        Ok(configuration) => {
            if configuration.statistics.is_some() {
                // SAFETY: the function is one of this library, which burn never unloads.
                unsafe { atexit(write_statistics) };
            }
            Some(Simulator::new(configuration))
        }
        Err(error) => {
            eprintln!("hip-sim: {error}");
            None
        }
    });
    simulator.as_ref().ok_or(Status::NotInitialized)
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn write_statistics() {
    let Ok(simulator) = simulator() else { return };
    let Some(path) = &simulator.configuration().statistics else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    // The process ends: there is nobody left to tell.
    let _ = file.and_then(|mut file| writeln!(file, "{}", simulator.statistics()));
}

/// The ordinal of a stream's device; that of the thread without a stream.
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
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Status> {
    if place.is_null() {
        return Err(Status::InvalidValue);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}
