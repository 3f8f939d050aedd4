//! Execution of one kernel launch.
//!
//! A kernel without barriers loops over its grid by itself. With barriers, every thread of a block
//! is a fiber on one thread of the host, and blocks run one after the other. Kernels of all devices
//! share one lock: the launch parameters and the static shared memory are variables of the kernel's
//! shared object, of which there is one per process.

mod fiber;
mod scheduler;
mod stack;

use crate::frame::Dim3;
use crate::module::Function;
use crate::properties::SHARED_MEMORY;
use crate::statistics::LaunchStats;
use scheduler::{BARRIERS, FiberKernel, FiberScheduler};
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// The shared memory of a block and the fibers of its threads, reused from launch to launch.
struct FiberEngine {
    shared: Box<SharedMemory>,
    scheduler: FiberScheduler,
}

#[repr(align(256))]
struct SharedMemory([u8; SHARED_MEMORY]);

static ENGINE: Mutex<Option<FiberEngine>> = Mutex::new(None);

/// Runs `function` over `grid` blocks of `block` threads.
///
/// # Safety
///
/// `arguments` points to as many pointers as the kernel has arguments, each to a value of its type,
/// and the buffers are as large as the kernel assumes. The kernel's module stays loaded for the
/// call.
pub(crate) unsafe fn run(
    function: &Function,
    grid: Dim3,
    block: Dim3,
    wave_size: u32,
    arguments: *mut *mut c_void,
) -> LaunchStats {
    let call = FiberKernel {
        frame: function.frame,
        entry: function.thread,
        arguments,
        wave_size: wave_size as usize,
    };
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine.get_or_insert_with(|| FiberEngine {
        shared: Box::new(SharedMemory([0; SHARED_MEMORY])),
        scheduler: FiberScheduler::new(call),
    });
    // Makes reads of uninitialised shared memory visible: one bits are NaN as a float and -1 as an
    // integer.
    engine.shared.0.fill(0xff);
    // SAFETY: the frame is a variable of the loaded module, which only the holder of the lock
    // accesses.
    let frame = unsafe { &mut *function.frame };
    frame.begin(
        grid,
        block,
        wave_size,
        BARRIERS,
        engine.shared.0.as_mut_ptr(),
    );
    if function.fibers {
        // SAFETY: as the caller promises.
        return unsafe { engine.scheduler.run(call, grid, block) };
    }
    // SAFETY: the arguments are as the caller promises.
    unsafe { (function.grid)(arguments) };
    LaunchStats::default()
}
