//! The functions of HIP and hiprtc that burn's ROCm backend calls, forwarded to the CUDA driver and
//! NVRTC.
//!
//! Owns: the mapping of calls and of HIP's device language. The kernels that cubecl generates for
//! AMD run on a real GPU, in parallel, with real shuffles, atomics and half precision. It is not an
//! AMD GPU: the device reports gfx1030 (waves of 32, no matrix instructions) with `(hip-sim)` in
//! its name, so it is recognised as emulated.

pub mod compiler;
mod driver;
pub mod execution;
pub mod runtime;
pub mod transfer;

use driver::Driver;
use hip_sim::HipError;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;

thread_local! {
    /// The current device, and whether its context is current on this thread.
    static CURRENT: Cell<(c_int, bool)> = const { Cell::new((0, false)) };
}

/// Marks the library as a simulation, as in hip-sim: no HIP runtime for AMD exports this symbol.
#[unsafe(no_mangle)]
pub extern "C" fn hipSimVersion() -> c_int {
    100
}

/// The CUDA driver, opened at the first call.
fn driver() -> Result<&'static Driver, HipError> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    let opened = DRIVER.get_or_init(|| {
        let opened = Driver::open();
        if let Err(why) = &opened {
            eprintln!("hip-sim on CUDA: {why}");
        }
        opened
    });
    // To a caller of HIP, a machine without the driver is one without a device.
    opened.as_ref().map_err(|_| HipError::NoDevice)
}

/// The driver, with the context of the current device on this thread: most CUDA calls need one.
fn in_context() -> Result<&'static Driver, HipError> {
    let driver = driver()?;
    let (device, is_set) = CURRENT.get();
    if !is_set {
        driver.enter(device)?;
        CURRENT.set((device, true));
    }
    Ok(driver)
}

/// The C status of a call.
fn answer(result: Result<c_int, HipError>) -> u32 {
    // The errors that burn distinguishes have the same numbers in CUDA and HIP.
    match result {
        Ok(status) => status.unsigned_abs(),
        Err(status) => status as u32,
    }
}
