//! The order in which the threads of a block run: wave by wave, all ready lanes of a wave until each waits or ends.
//!
//! When all lanes of a wave wait, those at the operation that comes first in the text go on together. So lanes that
//! diverged in a branch meet again behind it, as they do on a GPU. When nothing is left to run, the block's barrier opens.

use super::fiber::{self, Fiber, State};
use super::frame::{Exchange, Slot};
use super::{Account, Extent};
use crate::Function;
use corosensei::stack::DefaultStack;
use std::ffi::c_void;

/// Slots of a wave: two sets of the most lanes that there are.
const SLOTS_PER_WAVE: usize = 128;

/// What is kept from block to block.
#[derive(Default)]
pub(super) struct Scheduler {
    stacks: Vec<DefaultStack>,
    threads: Vec<(Fiber, Extent)>,
    slots: Vec<Slot>,
    exchanges: Vec<Exchange>,
}

// SAFETY: the pointers in fibers lead to arguments of the launch that runs now, and every fiber has ended when the lock
// on the scheduler is given back.
unsafe impl Send for Scheduler {}

impl Scheduler {
    /// Runs all threads of one block to their end.
    ///
    /// # Safety
    ///
    /// As for [`super::run`]; the function's frame is set up but for the thread.
    pub(super) unsafe fn run_block(
        &mut self,
        function: &Function,
        block: Extent,
        wave_size: u32,
        arguments: *mut *mut c_void,
        account: &mut Account,
    ) {
        for place in block.places() {
            let stack = self.stacks.pop().or_else(fiber::stack).expect("the host has memory for the stacks of a block");
            // SAFETY: as the caller promises; the fibers end below.
            self.threads.push((unsafe { Fiber::new(stack, function.thread, arguments) }, place));
        }
        let waves = self.threads.len().div_ceil(wave_size as usize);
        self.slots.resize(waves * SLOTS_PER_WAVE, Slot::EMPTY);
        self.exchanges.clear();
        self.exchanges.resize(waves, Exchange::default());
        while self.threads.iter().any(|(fiber, _)| fiber.state != State::Done) {
            for wave in 0..waves {
                self.run_wave(function, wave, wave_size as usize, account);
            }
            self.open_block_barrier();
        }
        self.stacks.extend(self.threads.drain(..).map(|(fiber, _)| fiber.into_stack()));
    }

    /// Runs the lanes of a wave until each waits for the block or has ended.
    fn run_wave(&mut self, function: &Function, wave: usize, wave_size: usize, account: &mut Account) {
        let first = wave * wave_size;
        let last = (first + wave_size).min(self.threads.len());
        let slots = self.slots[wave * SLOTS_PER_WAVE..].as_mut_ptr();
        loop {
            for (lane, (fiber, place)) in self.threads[first..last].iter_mut().enumerate() {
                if fiber.state == State::Ready {
                    account.switches += 1;
                    // SAFETY: the frame belongs to the loaded module, and no other reference to it lives.
                    unsafe {
                        let frame = &mut *function.frame;
                        (frame.thread, frame.lane) = (*place, lane as u32);
                        (frame.slots, frame.exchange) = (slots, &raw mut self.exchanges[wave]);
                    }
                    fiber.resume();
                }
            }
            let lanes = &mut self.threads[first..last];
            let Some(mask) = open_wave_barrier(lanes, account) else { return };
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

/// Lets those lanes go on that wait at the first place of the text; their bits. `None` when no lane waits for its wave.
fn open_wave_barrier(lanes: &mut [(Fiber, Extent)], account: &mut Account) -> Option<u64> {
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
    account.divergences += u64::from(mask.count_ones() as usize != live);
    Some(mask)
}
