//! The launch parameters that a kernel thread reads: `hip_sim::Frame` of
//! include/hip/hip_sim_launch.h.

use std::ffi::{c_uint, c_void};

/// An entry point of a kernel, with pointers to its arguments.
pub(crate) type KernelFunction = unsafe extern "C" fn(*mut *mut c_void);

/// Three dimensions of a grid or of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Dim3 {
    /// The fastest-changing dimension.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The slowest-changing dimension.
    pub z: u32,
}

impl Dim3 {
    /// An extent of `x`, `y` and `z`.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The product of the dimensions; `None` when it is too large.
    pub(crate) fn count(self) -> Option<u64> {
        u64::from(self.x)
            .checked_mul(u64::from(self.y))?
            .checked_mul(u64::from(self.z))
    }

    /// Every index, x fastest.
    pub(crate) fn indices(self) -> impl Iterator<Item = Self> {
        let Self { x, y, z } = self;
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| Self { x, y, z })))
    }
}

/// The functions that a kernel calls to wait for other threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Barriers {
    /// Waits for the lanes of the wave; the argument is the number of the operation in the order of
    /// the source.
    pub(crate) wave: unsafe extern "C" fn(c_uint),
    /// Waits for the threads of the block.
    pub(crate) block: unsafe extern "C" fn(),
}

/// The launch, and its current thread.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ThreadFrame {
    pub(crate) thread: Dim3,
    pub(crate) block: Dim3,
    block_extent: Dim3,
    grid_extent: Dim3,
    pub(crate) lane: u32,
    wave_size: u32,
    wave_barrier: unsafe extern "C" fn(c_uint),
    block_barrier: unsafe extern "C" fn(),
    pub(crate) slots: *mut Slot,
    pub(crate) exchange: *mut Exchange,
    shared: *mut u8,
}

/// The value that one lane shares with the others.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Slot([u8; 64]);

impl Slot {
    pub(crate) const EMPTY: Self = Self([0; 64]);
}

/// Bit masks over the lanes of a wave; hip_sim_launch.h explains the two sides.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Exchange {
    mask: u64,
    sides: u64,
    next_sides: u64,
}

impl Exchange {
    /// Completes an operation in which the lanes of `mask` took part.
    pub(crate) fn complete(&mut self, mask: u64) {
        (self.mask, self.sides) = (mask, self.next_sides);
        self.next_sides ^= mask;
    }
}

impl ThreadFrame {
    /// Sets the fields that are the same for all threads of a launch.
    pub(crate) fn begin(
        &mut self,
        grid: Dim3,
        block: Dim3,
        wave_size: u32,
        barriers: Barriers,
        shared: *mut u8,
    ) {
        *self = Self {
            thread: Dim3::default(),
            block: Dim3::default(),
            block_extent: block,
            grid_extent: grid,
            lane: 0,
            wave_size,
            wave_barrier: barriers.wave,
            block_barrier: barriers.block,
            slots: std::ptr::null_mut(),
            exchange: std::ptr::null_mut(),
            shared,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Dim3;

    #[test]
    fn x_changes_fastest() {
        let indices: Vec<_> = Dim3::new(2, 1, 2)
            .indices()
            .map(|index| (index.x, index.y, index.z))
            .collect();
        assert_eq!(indices, [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1)]);
    }
}
