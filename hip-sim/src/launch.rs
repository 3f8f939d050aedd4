//! Running one launch of a kernel.
//!
//! Without barriers the compiled kernel loops over its grid itself. With them every thread of a block is a fiber on one
//! thread of the host, and blocks run one after the other. Kernels of all devices share one lock: what a kernel sees of
//! its launch is a variable of its shared object, and so is its static shared memory.

mod fiber;
mod frame;
mod scheduler;

pub(crate) use frame::{Frame, KernelEntry};

use crate::Function;
use crate::properties::SHARED_MEMORY;
use scheduler::Scheduler;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Three dimensions of a grid or of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Extent {
    /// The one that changes first.
    pub x: u32,
    /// The second.
    pub y: u32,
    /// The third.
    pub z: u32,
}

impl Extent {
    /// x, y and z.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// All of it; `None` when the number is too large.
    pub(crate) fn count(self) -> Option<u64> {
        u64::from(self.x).checked_mul(u64::from(self.y))?.checked_mul(u64::from(self.z))
    }

    /// Every place, x first.
    fn places(self) -> impl Iterator<Item = Self> {
        let Self { x, y, z } = self;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| Self { x, y, z })))
    }
}

/// What happened during a launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) switches: u64,
    pub(crate) divergences: u64,
}

/// The memory that a block shares, and the fibers, which are kept from launch to launch.
struct Engine {
    shared: Box<Shared>,
    scheduler: Scheduler,
}

#[repr(align(256))]
struct Shared([u8; SHARED_MEMORY]);

static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

/// Runs `function` over `grid` blocks of `block` threads.
///
/// # Safety
///
/// `arguments` points to as many pointers as the kernel has arguments, each to a value of its type, and what they lead to
/// is as large as the kernel takes it to be. The kernel's module stays loaded for the call.
pub(crate) unsafe fn run(
    function: &Function,
    grid: Extent,
    block: Extent,
    wave_size: u32,
    arguments: *mut *mut c_void,
) -> Account {
    let mut engine = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = engine.get_or_insert_with(|| Engine {
        shared: Box::new(Shared([0; SHARED_MEMORY])),
        scheduler: Scheduler::default(),
    });
    // What an earlier block left is no value that a kernel may rely on: all ones are NaN, and -1.
    engine.shared.0.fill(0xff);
    // SAFETY: the frame is a variable of the loaded module, which only the holder of the lock touches.
    let frame = unsafe { &mut *function.frame };
    frame.begin(grid, block, wave_size, engine.shared.0.as_mut_ptr());
    if !function.fibers {
        // SAFETY: the arguments are as the caller promises.
        unsafe { (function.grid)(arguments) };
        return Account::default();
    }
    let mut account = Account::default();
    for place in grid.places() {
        // SAFETY: as above; no reference to the frame lives while its threads run.
        unsafe {
            (*function.frame).block = place;
            engine.scheduler.run_block(function, block, wave_size, arguments, &mut account);
        }
    }
    account
}

#[cfg(test)]
mod tests {
    use super::Extent;

    #[test]
    fn places_run_over_x_first() {
        let places: Vec<_> = Extent::new(2, 1, 2).places().map(|place| (place.x, place.y, place.z)).collect();
        assert_eq!(places, [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]);
    }
}
