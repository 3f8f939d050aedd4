//! What a thread of a kernel sees of its launch: `hip_sim::Frame` of include/hip/hip_sim_launch.h.

use super::{Extent, fiber};
use std::ffi::{c_uint, c_void};

/// An entry point of a kernel, with pointers to its arguments.
pub(crate) type KernelEntry = unsafe extern "C" fn(*mut *mut c_void);

/// The launch, and the thread that runs now.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) thread: Extent,
    pub(crate) block: Extent,
    block_extent: Extent,
    grid_extent: Extent,
    pub(crate) lane: u32,
    wave_size: u32,
    wave_barrier: unsafe extern "C" fn(c_uint),
    block_barrier: unsafe extern "C" fn(),
    pub(crate) slots: *mut Slot,
    pub(crate) exchange: *mut Exchange,
    shared: *mut u8,
}

/// What one lane gives to the others.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Slot([u8; 64]);

impl Slot {
    pub(crate) const EMPTY: Self = Self([0; 64]);
}

/// Bits of the lanes of a wave; hip_sim_launch.h says why there are two sides.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Exchange {
    mask: u64,
    sides: u64,
    next_sides: u64,
}

impl Exchange {
    /// An operation has ended in which the lanes of `mask` took part.
    pub(crate) fn complete(&mut self, mask: u64) {
        (self.mask, self.sides) = (mask, self.next_sides);
        self.next_sides ^= mask;
    }
}

impl Frame {
    /// Sets what is the same for all threads of a launch.
    pub(crate) fn begin(&mut self, grid: Extent, block: Extent, wave_size: u32, shared: *mut u8) {
        *self = Self {
            thread: Extent::default(),
            block: Extent::default(),
            block_extent: block,
            grid_extent: grid,
            lane: 0,
            wave_size,
            wave_barrier: fiber::wave_barrier,
            block_barrier: fiber::block_barrier,
            slots: std::ptr::null_mut(),
            exchange: std::ptr::null_mut(),
            shared,
        };
    }
}
