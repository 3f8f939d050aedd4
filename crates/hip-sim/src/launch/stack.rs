//! The stack of a fiber.

use corosensei::stack::{DefaultStack, Stack};

/// Address space of a stack.
// The operating system allocates only the pages that a kernel touches.
const STACK_BYTES: usize = 256 * 1024;

/// How far the tops of consecutive stacks are apart within a page.
// At the same place in every page, what fibers use would share a few sets of the processor's cache.
// 9 lines of 64 bytes: the tops of 64 fibers are then in all sets.
const SHIFT: usize = 9 * 64;
const PAGE: usize = 4096;

/// Zeroed memory with a guard page, used from a little below its end.
pub(super) struct FiberStack {
    memory: DefaultStack,
    shift: usize,
}

impl FiberStack {
    /// The stack of fiber number `index`; `None` when memory is exhausted.
    pub(super) fn new(index: usize) -> Option<Self> {
        Some(Self {
            memory: DefaultStack::new(STACK_BYTES).ok()?,
            shift: index * SHIFT % PAGE,
        })
    }

    /// Its end, aligned to 16 bytes.
    pub(super) fn top(&self) -> *mut usize {
        (self.memory.base().get() - self.shift) as *mut usize
    }
}
