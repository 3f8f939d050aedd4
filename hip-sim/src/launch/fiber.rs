//! One thread of a block as a fiber, and the two barriers at which it waits.

use super::frame::KernelEntry;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::ffi::{c_uint, c_void};

/// Address space of a fiber; pages that a kernel does not touch cost nothing.
const STACK_BYTES: usize = 256 * 1024;

/// Why a fiber does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It can run.
    Ready,
    /// It waits for the lanes of its wave, at this place of the text.
    Wave(u32),
    /// It waits for its block.
    Block,
    /// It has come to its end.
    Done,
}

type Body = Coroutine<(), State, (), DefaultStack>;

/// A fiber.
pub(super) struct Fiber {
    body: Body,
    pub(super) state: State,
}

thread_local! {
    /// The way back from the fiber that runs on this thread.
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

    /// Its stack, for the next one; it must be [`State::Done`].
    pub(super) fn into_stack(self) -> DefaultStack {
        self.body.into_stack()
    }
}

/// A stack for a fiber, with a guard page; `None` when there is no memory.
pub(super) fn stack() -> Option<DefaultStack> {
    DefaultStack::new(STACK_BYTES).ok()
}

pub(super) unsafe extern "C" fn wave_barrier(site: c_uint) {
    wait(State::Wave(site));
}

pub(super) unsafe extern "C" fn block_barrier() {
    wait(State::Block);
}

fn wait(state: State) {
    let yielder = YIELDER.get();
    // SAFETY: kernels call barriers from fibers only, each of which has set its yielder before it called the kernel, and
    // sets it again here; the yielder lives on the fiber's stack.
    unsafe { (*yielder).suspend(state) };
    YIELDER.set(yielder);
}
