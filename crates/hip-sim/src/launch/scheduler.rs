//! The order in which the threads of a block run: wave by wave, all ready lanes of a wave until each waits or ends.
//!
//! When all lanes of a wave wait, those at the operation that comes first in the source continue together. So lanes
//! that diverged in a branch reconverge after it, as they do on a GPU. When no thread can run, the block's barrier
//! opens.

use super::fiber::{self, Fiber, State};
use crate::frame::{Exchange, Extent, Slot};
use crate::module::Function;
use crate::statistics::LaunchStats;
use corosensei::stack::DefaultStack;
use std::ffi::c_void;

/// Slots of a wave: two sides of 64 lanes, the largest wave size.
const SLOTS_PER_WAVE: usize = 128;

/// Runs the threads of a block. Its buffers are reused from block to block.
#[derive(Default)]
pub(super) struct Scheduler {
    stacks: Vec<DefaultStack>,
    threads: Vec<(Fiber, Extent)>,
    slots: Vec<Slot>,
    exchanges: Vec<Exchange>,
}

// SAFETY: the pointers in fibers point to arguments of the current launch, and every fiber has ended when the lock on
// the scheduler is released.
unsafe impl Send for Scheduler {}

impl Scheduler {
    /// Runs all threads of one block to their end.
    ///
    /// # Safety
    ///
    /// As for [`super::run`]; the function's frame is set up except for the thread.
    pub(super) unsafe fn run_block(
        &mut self,
        function: &Function,
        block: Extent,
        wave_size: u32,
        arguments: *mut *mut c_void,
        stats: &mut LaunchStats,
    ) {
        for index in block.indices() {
            let stack = self.stacks.pop().or_else(fiber::stack).expect("the host has memory for the stacks of a block");
            // SAFETY: as the caller promises; the fibers end below.
            self.threads.push((unsafe { Fiber::new(stack, function.thread, arguments) }, index));
        }
        let waves = self.threads.len().div_ceil(wave_size as usize);
        self.slots.resize(waves * SLOTS_PER_WAVE, Slot::EMPTY);
        self.exchanges.clear();
        self.exchanges.resize(waves, Exchange::default());
        while self.threads.iter().any(|(fiber, _)| fiber.state != State::Done) {
            for wave in 0..waves {
                self.run_wave(function, wave, wave_size as usize, stats);
            }
            self.open_block_barrier();
        }
        self.stacks.extend(self.threads.drain(..).map(|(fiber, _)| fiber.into_stack()));
    }

    /// Runs the lanes of a wave until each waits for the block or has ended.
    fn run_wave(&mut self, function: &Function, wave: usize, wave_size: usize, stats: &mut LaunchStats) {
        let first = wave * wave_size;
        let last = (first + wave_size).min(self.threads.len());
        let slots = self.slots[wave * SLOTS_PER_WAVE..].as_mut_ptr();
        loop {
            for (lane, (fiber, index)) in self.threads[first..last].iter_mut().enumerate() {
                if fiber.state == State::Ready {
                    stats.switches += 1;
                    // SAFETY: the frame belongs to the loaded module, and no other reference to it exists.
                    unsafe {
                        let frame = &mut *function.frame;
                        (frame.thread, frame.lane) = (*index, lane as u32);
                        (frame.slots, frame.exchange) = (slots, &raw mut self.exchanges[wave]);
                    }
                    fiber.resume();
                }
            }
            let lanes = &mut self.threads[first..last];
            let Some(mask) = open_wave_barrier(lanes, stats) else { return };
            self.exchanges[wave].complete(mask);
        }
    }

    fn open_block_barrier(&mut self) {
        for (fiber, _) in &mut self.threads {
            if fiber.state == State::Block {
                fiber.state = State::Ready;
            }
        }
    }
}

/// Releases the lanes that wait at the first operation of the source, and returns their bits. `None` when no lane waits
/// for its wave.
fn open_wave_barrier(lanes: &mut [(Fiber, Extent)], stats: &mut LaunchStats) -> Option<u64> {
    let site =
        lanes.iter().filter_map(|(fiber, _)| if let State::Wave(site) = fiber.state { Some(site) } else { None });
    let first = site.min()?;
    let live = lanes.iter().filter(|(fiber, _)| fiber.state != State::Done).count();
    let mut mask = 0_u64;
    for (lane, (fiber, _)) in lanes.iter_mut().enumerate() {
        if fiber.state == State::Wave(first) {
            fiber.state = State::Ready;
            mask |= 1 << lane;
        }
    }
    stats.divergences += u64::from(mask.count_ones() as usize != live);
    Some(mask)
}
