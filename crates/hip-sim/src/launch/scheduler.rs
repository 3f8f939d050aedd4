//! The order in which the threads of a block run: wave by wave, all ready lanes of a wave until
//! each waits or ends.
//!
//! When all lanes of a wave wait, those at the operation that comes first in the source continue
//! together. So lanes that diverged in a branch reconverge after it, as they do on a GPU. When no
//! thread can run, the block's barrier opens.

use super::fiber::{Fiber, StackPointer, switch};
use super::stack::FiberStack;
use crate::frame::{Barriers, Dim3, Exchange, KernelFunction, Slot, ThreadFrame};
use crate::statistics::LaunchStats;
use std::ffi::{c_uint, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The barriers that kernels call, for the frame.
pub(super) const BARRIERS: Barriers = Barriers {
    wave: wave_barrier,
    block: block_barrier,
};

/// Fills shared memory before it is used.
// Makes reads of uninitialised memory visible: one bits are NaN as a float and -1 as an integer.
pub(super) const UNINITIALISED: u8 = 0xff;

/// Slots of a wave: two sides of 64 lanes, the largest wave size.
const SLOTS_PER_WAVE: usize = 128;

/// A kernel that runs on fibers, with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct FiberKernel {
    pub(super) frame: *mut ThreadFrame,
    pub(super) entry: KernelFunction,
    pub(super) arguments: *mut *mut c_void,
    pub(super) wave_size: usize,
}

/// Whether a thread can run, and what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FiberState {
    /// It can run.
    Ready,
    /// It waits for the lanes of its wave, at this operation, numbered in the order of the source.
    Wave(u32),
    /// It waits for its block.
    Block,
    /// It has ended.
    Done,
}

/// A thread of the block; its fiber has the same number.
struct Thread {
    index: Dim3,
    state: FiberState,
}

impl Thread {
    /// The operation of the source at which it waits for its wave.
    fn wave_site(&self) -> Option<u32> {
        match self.state {
            FiberState::Wave(site) => Some(site),
            _ => None,
        }
    }
}

/// Runs the threads of a block. Its fibers and buffers are reused from block to block.
pub(super) struct FiberScheduler {
    call: FiberKernel,
    fibers: Vec<Fiber>,
    threads: Vec<Thread>,
    slots: Vec<Slot>,
    exchanges: Vec<Exchange>,
    /// The threads of the wave that runs, and the one of them that runs.
    wave: Range<usize>,
    current: usize,
    /// Where the scheduler continues when no lane of the wave is ready.
    pointer: StackPointer,
    stats: LaunchStats,
}

/// The scheduler that runs a block.
// One for the process, because one kernel runs at a time.
static RUNNING: AtomicPtr<FiberScheduler> = AtomicPtr::new(null_mut());

// SAFETY: pointers to a kernel and its arguments are used during its launch only.
unsafe impl Send for FiberScheduler {}

impl FiberScheduler {
    pub(super) fn new(call: FiberKernel) -> Self {
        Self {
            call,
            fibers: Vec::new(),
            threads: Vec::new(),
            slots: Vec::new(),
            exchanges: Vec::new(),
            wave: 0..0,
            current: 0,
            pointer: null_mut(),
            stats: LaunchStats::default(),
        }
    }

    /// Runs all threads of all blocks to their end.
    ///
    /// # Safety
    ///
    /// As for [`super::run`]; the frame is set up except for the block and the thread, and `shared`
    /// is the shared memory of the launch.
    pub(super) unsafe fn run(
        &mut self,
        call: FiberKernel,
        grid: Dim3,
        block: Dim3,
        shared: *mut [u8],
    ) -> LaunchStats {
        (self.call, self.stats) = (call, LaunchStats::default());
        for index in grid.indices() {
            self.begin_block(block);
            // A block does not see the memory of the one before.
            // SAFETY: no thread of the launch runs.
            unsafe { shared.cast::<u8>().write_bytes(UNINITIALISED, shared.len()) };
            // SAFETY: the frame belongs to the loaded module, and no reference to it exists while
            // its threads run.
            unsafe { (*call.frame).block = index };
            let scheduler = &raw mut *self;
            // Relaxed is enough: all fibers run on this thread.
            RUNNING.store(scheduler, Relaxed);
            // SAFETY: as the caller promises; no other reference to the scheduler is used while the
            // block runs.
            unsafe { Self::run_block(scheduler) };
        }
        self.stats
    }

    fn begin_block(&mut self, block: Dim3) {
        self.threads.clear();
        self.threads.extend(block.indices().map(|index| Thread {
            index,
            state: FiberState::Ready,
        }));
        while self.fibers.len() < self.threads.len() {
            let stack = FiberStack::new(self.fibers.len())
                .expect("the host has memory for the stacks of a block");
            self.fibers.push(Fiber::new(stack, run_threads));
        }
        let waves = self.waves();
        self.slots.resize(waves * SLOTS_PER_WAVE, Slot::EMPTY);
        self.exchanges.clear();
        self.exchanges.resize(waves, Exchange::default());
    }

    /// # Safety
    ///
    /// As for [`FiberScheduler::run`]; `scheduler` is the one that runs, and began the block.
    unsafe fn run_block(scheduler: *mut Self) {
        // SAFETY: as the caller promises; no reference lives while threads run.
        unsafe {
            let waves = (*scheduler).waves();
            loop {
                (0..waves).for_each(|wave| Self::run_wave(scheduler, wave));
                if !(*scheduler).open_block_barrier() {
                    return;
                }
            }
        }
    }

    /// Runs the lanes of a wave until each waits for the block or has ended.
    ///
    /// # Safety
    ///
    /// As for [`FiberScheduler::run_block`].
    unsafe fn run_wave(scheduler: *mut Self, wave: usize) {
        // SAFETY: as the caller promises; no reference lives while threads run.
        unsafe {
            (*scheduler).begin_wave(wave);
            loop {
                if let Some(thread) = (*scheduler).next_ready((*scheduler).wave.start) {
                    let fiber = (*scheduler).begin_thread(thread);
                    switch(&raw mut (*scheduler).pointer, fiber);
                }
                let Some(mask) = (*scheduler).open_wave_barrier() else {
                    return;
                };
                (*scheduler).complete_operation(wave, mask);
            }
        }
    }

    fn waves(&self) -> usize {
        self.threads.len().div_ceil(self.call.wave_size)
    }

    fn complete_operation(&mut self, wave: usize, lanes: u64) {
        self.exchanges[wave].complete(lanes);
    }

    fn begin_wave(&mut self, wave: usize) {
        let first = wave * self.call.wave_size;
        self.wave = first..(first + self.call.wave_size).min(self.threads.len());
        // SAFETY: the frame belongs to the loaded module, and no other reference to it exists.
        let frame = unsafe { &mut *self.call.frame };
        frame.slots = self.slots[wave * SLOTS_PER_WAVE..].as_mut_ptr();
        frame.exchange = &raw mut self.exchanges[wave];
    }

    /// The first ready thread of the wave from `start` on.
    fn next_ready(&self, start: usize) -> Option<usize> {
        (start..self.wave.end).find(|thread| self.threads[*thread].state == FiberState::Ready)
    }

    /// Makes a thread the current one, and returns where its fiber continues.
    fn begin_thread(&mut self, thread: usize) -> StackPointer {
        self.current = thread;
        self.stats.switches += 1;
        // SAFETY: the frame belongs to the loaded module, and no other reference to it exists.
        let frame = unsafe { &mut *self.call.frame };
        (frame.thread, frame.lane) = (
            self.threads[thread].index,
            (thread - self.wave.start) as u32,
        );
        self.fibers[thread].pointer
    }

    /// Ends the turn of the current thread. Returns where to store its stack pointer, and where the
    /// next ready lane of the wave continues, or else the scheduler.
    fn end_turn(&mut self, state: FiberState) -> (*mut StackPointer, StackPointer) {
        let ended = self.current;
        self.threads[ended].state = state;
        let next = match self.next_ready(ended + 1) {
            Some(thread) => self.begin_thread(thread),
            None => self.pointer,
        };
        (&raw mut self.fibers[ended].pointer, next)
    }

    /// Releases the threads that wait for their block. `false` when none does.
    fn open_block_barrier(&mut self) -> bool {
        // Without one, all have ended.
        let mut any = false;
        for thread in self
            .threads
            .iter_mut()
            .filter(|thread| thread.state == FiberState::Block)
        {
            (thread.state, any) = (FiberState::Ready, true);
        }
        any
    }

    /// Releases the lanes that wait at the first operation of the source, and returns their bits.
    /// `None` when no lane waits for its wave.
    fn open_wave_barrier(&mut self) -> Option<u64> {
        let lanes = &mut self.threads[self.wave.clone()];
        let first = lanes.iter().filter_map(Thread::wave_site).min()?;
        let live = lanes
            .iter()
            .filter(|thread| thread.state != FiberState::Done)
            .count();
        let mut mask = 0_u64;
        for (lane, thread) in lanes.iter_mut().enumerate() {
            if thread.state == FiberState::Wave(first) {
                thread.state = FiberState::Ready;
                mask |= 1 << lane;
            }
        }
        self.stats.divergences += u64::from(mask.count_ones() as usize != live);
        Some(mask)
    }
}

/// The body of a fiber: a thread of every block that has as many.
extern "C" fn run_threads() -> ! {
    loop {
        // SAFETY: fibers run during a block only, when its scheduler is stored.
        let FiberKernel {
            entry, arguments, ..
        } = unsafe { (*RUNNING.load(Relaxed)).call };
        // SAFETY: as the caller of `FiberScheduler::run` promises.
        unsafe { entry(arguments) };
        // The fiber is kept, and continues here as a thread of the next block.
        wait(FiberState::Done);
    }
}

unsafe extern "C" fn wave_barrier(site: c_uint) {
    wait(FiberState::Wave(site));
}

unsafe extern "C" fn block_barrier() {
    wait(FiberState::Block);
}

/// Suspends the current thread until its next turn.
#[inline(always)]
fn wait(state: FiberState) {
    let scheduler = RUNNING.load(Relaxed);
    // SAFETY: kernels wait on fibers only, which run during a block, when its scheduler is stored;
    // no reference to it lives while another thread runs.
    unsafe {
        let (from, to) = (*scheduler).end_turn(state);
        switch(from, to);
    }
}
