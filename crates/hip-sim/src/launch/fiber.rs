//! One thread of a block as a fiber, and the two barriers at which it waits.

use crate::frame::{Barriers, KernelEntry};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ffi::{c_uint, c_void};

/// Address space of a fiber's stack; the operating system allocates only the pages that a kernel touches.
const STACK_BYTES: usize = 256 * 1024;

/// The barriers that kernels call, for the frame.
pub(super) const BARRIERS: Barriers = Barriers { wave: wave_barrier, block: block_barrier };

/// Whether a fiber can run, and what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It can run.
    Ready,
    /// It waits for the lanes of its wave, at this operation, numbered in the order of the source.
    Wave(u32),
    /// It waits for its block.
    Block,
    /// It has ended.
    Done,
}

type Body = Coroutine<(), State, (), DefaultStack>;

/// A fiber.
pub(super) struct Fiber {
    body: Body,
    pub(super) state: State,
}

thread_local! {
    /// The handle by which the fiber that runs on this thread suspends itself.
    static YIELDER: Cell<*const Yielder<(), State>> = const { Cell::new(std::ptr::null()) };
}

impl Fiber {
    /// A fiber that will call `entry`.
    ///
    /// # Safety
    ///
    /// `entry` may be called with `arguments` until the fiber is [`State::Done`].
    pub(super) unsafe fn new(stack: DefaultStack, entry: KernelEntry, arguments: *mut *mut c_void) -> Self {
        let body = Coroutine::with_stack(stack, move |yielder: &Yielder<(), State>, ()| {
            YIELDER.set(yielder);
            // SAFETY: as the caller promises.
            unsafe { entry(arguments) };
        });
        Self { body, state: State::Ready }
    }

    /// Runs it until it waits or ends.
    pub(super) fn resume(&mut self) {
        self.state = match self.body.resume(()) {
            CoroutineResult::Yield(state) => state,
            CoroutineResult::Return(()) => State::Done,
        };
    }

    /// Its stack, for reuse; the fiber must be [`State::Done`].
    pub(super) fn into_stack(self) -> DefaultStack {
        self.body.into_stack()
    }
}

/// A stack for a fiber, with a guard page; `None` when memory is exhausted.
pub(super) fn stack() -> Option<DefaultStack> {
    DefaultStack::new(STACK_BYTES).ok()
}

unsafe extern "C" fn wave_barrier(site: c_uint) {
    wait(State::Wave(site));
}

unsafe extern "C" fn block_barrier() {
    wait(State::Block);
}

fn wait(state: State) {
    let yielder = YIELDER.get();
    // SAFETY: kernels call barriers from fibers only, each of which set its yielder before it called the kernel, and
    // sets it again here; the yielder lives on the fiber's stack.
    unsafe { (*yielder).suspend(state) };
    // Other fibers ran in between and replaced it.
    YIELDER.set(yielder);
}
