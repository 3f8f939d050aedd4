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
use scheduler::{BARRIERS, FiberKernel, FiberScheduler, UNINITIALISED};
use std::ffi::c_void;
use std::ptr::slice_from_raw_parts_mut;
use std::sync::{Mutex, PoisonError};

/// One launch of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory.
    pub shared_memory: u32,
    /// Pointers to the arguments.
    pub arguments: *mut *mut c_void,
}

/// The shared memory of a block and the fibers of its threads, reused from launch to launch.
struct FiberEngine {
    shared: Box<SharedMemory>,
    scheduler: FiberScheduler,
}

#[repr(align(256))]
struct SharedMemory([u8; SHARED_MEMORY]);

static ENGINE: Mutex<Option<FiberEngine>> = Mutex::new(None);

/// Runs `function` over the blocks of a launch.
///
/// # Safety
///
/// `launch.arguments` points to as many pointers as the kernel has arguments, each to a value of its type,
/// and the buffers are as large as the kernel assumes. The kernel's module stays loaded for the
/// call.
pub(crate) unsafe fn run(function: &Function, launch: &Launch, wave_size: u32) -> LaunchStats {
    let call = FiberKernel {
        frame: function.frame,
        entry: function.thread,
        arguments: launch.arguments,
        wave_size: wave_size as usize,
    };
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine.get_or_insert_with(|| FiberEngine {
        shared: Box::new(SharedMemory([0; SHARED_MEMORY])),
        scheduler: FiberScheduler::new(call),
    });
    engine.shared.0.fill(UNINITIALISED);
    let shared = engine.shared.0.as_mut_ptr();
    // SAFETY: the frame is a variable of the loaded module, which only the holder of the lock
    // accesses.
    let frame = unsafe { &mut *function.frame };
    frame.begin(launch.grid, launch.block, wave_size, BARRIERS, shared);
    if function.fibers {
        let shared = slice_from_raw_parts_mut(shared, launch.shared_memory as usize);
        let (grid, block) = (launch.grid, launch.block);
        // SAFETY: as the caller promises. A launch has no more shared memory than there is.
        return unsafe { engine.scheduler.run(call, grid, block, shared) };
    }
    // SAFETY: the arguments are as the caller promises.
    unsafe { (function.grid)(launch.arguments) };
    LaunchStats::default()
}
