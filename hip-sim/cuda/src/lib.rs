//! The functions of HIP and hiprtc that burn's ROCm backend calls, forwarded to the CUDA driver and NVRTC.
//!
//! Owns: the mapping of calls and of HIP's device language. What it is good for: kernels that cubecl wrote for AMD run on
//! a real GPU, in parallel, with real shuffles, atomics and half precision. What it is not: an AMD GPU. The device calls
//! itself gfx1030 (waves of 32, no matrix instructions) with `(hip-sim)` in its name, so nothing takes it for one.

pub mod compiler;
mod driver;
pub mod execution;
pub mod runtime;
pub mod transfer;

use driver::Driver;
use hip_sim::Status;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::OnceLock;

/// `CUDA_SUCCESS`, `hipSuccess`.
const SUCCESS: c_int = 0;

thread_local! {
    /// The current device, and whether its context is this thread's.
    static CURRENT: Cell<(c_int, bool)> = const { Cell::new((0, false)) };
}

/// As in the simulator: no HIP runtime for AMD has this symbol.
#[unsafe(no_mangle)]
pub extern "C" fn hipSimVersion() -> c_int {
    100
}

/// The CUDA driver, opened at the first call.
fn driver() -> Result<&'static Driver, Status> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    let opened = DRIVER.get_or_init(|| {
        let opened = Driver::open();
        if let Err(why) = &opened {
            eprintln!("hip-sim on CUDA: {why}");
        }
        opened
    });
    opened.as_ref().map_err(|_| Status::NoDevice)
}

/// The driver, with the context of the current device on this thread: CUDA wants one before most calls.
fn in_context() -> Result<&'static Driver, Status> {
    let driver = driver()?;
    let (device, is_set) = CURRENT.get();
    if !is_set {
        driver.enter(device)?;
        CURRENT.set((device, true));
    }
    Ok(driver)
}

/// The C answer of a call: an error of CUDA has the same number in HIP, as far as burn looks at it.
fn answer(result: Result<c_int, Status>) -> u32 {
    match result {
        Ok(status) => status.unsigned_abs(),
        Err(status) => status as u32,
    }
}
