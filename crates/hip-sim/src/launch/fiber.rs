//! A fiber: a stack on which threads of a block run one after the other, and the switch to another
//! stack.
//!
//! A thread that waits continues with another one directly, inside the same call of a barrier. So
//! the processor predicts where both calls return to. With coroutines, which return to the
//! scheduler in between, it predicted wrongly twice for each thread and barrier, which took longer
//! than the threads themselves.

use super::stack::FiberStack;
use std::arch::naked_asm;

/// The stack pointer of code that waits; its registers are saved there.
pub(super) type StackPointer = *mut usize;

/// A fiber. It exists until the process ends.
pub(super) struct Fiber {
    /// Where it continues; out of date while it runs.
    pub(super) pointer: StackPointer,
    _stack: FiberStack,
}

impl Fiber {
    /// A fiber that calls `body` when it is switched to for the first time.
    pub(super) fn new(stack: FiberStack, body: extern "C" fn() -> !) -> Self {
        let top = stack.top();
        // SAFETY: both words are within the stack, whose other words are zero.
        let pointer = unsafe {
            let pointer = top.sub(SAVED_WORDS);
            pointer.add(RETURN_WORD).write(body as usize);
            pointer
        };
        Self {
            pointer,
            _stack: stack,
        }
    }
}

/// The words that [`switch`] saves, and one with which the stack of a new fiber is aligned as after
/// a call.
#[cfg(target_arch = "x86_64")]
const SAVED_WORDS: usize = 8;
/// The place of the return address among them.
#[cfg(target_arch = "x86_64")]
const RETURN_WORD: usize = 6;

/// The words that [`switch`] saves.
#[cfg(target_arch = "aarch64")]
const SAVED_WORDS: usize = 20;
/// The place of the return address among them.
#[cfg(target_arch = "aarch64")]
const RETURN_WORD: usize = 11;

/// Saves the registers that a function preserves, stores the stack pointer in `from`, and continues
/// at `to`.
///
/// # Safety
///
/// `from` can be written; `to` was stored by a call of this function that has not returned, or
/// belongs to a new fiber.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn switch(from: *mut StackPointer, to: StackPointer) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Saves the registers that a function preserves, stores the stack pointer in `from`, and continues
/// at `to`.
///
/// # Safety
///
/// `from` can be written; `to` was stored by a call of this function that has not returned, or
/// belongs to a new fiber.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn switch(from: *mut StackPointer, to: StackPointer) {
    naked_asm!(
        "sub sp, sp, #160",
        "stp x19, x20, [sp]",
        "stp x21, x22, [sp, #16]",
        "stp x23, x24, [sp, #32]",
        "stp x25, x26, [sp, #48]",
        "stp x27, x28, [sp, #64]",
        "stp x29, x30, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        "ldp x19, x20, [sp]",
        "ldp x21, x22, [sp, #16]",
        "ldp x23, x24, [sp, #32]",
        "ldp x25, x26, [sp, #48]",
        "ldp x27, x28, [sp, #64]",
        "ldp x29, x30, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "add sp, sp, #160",
        "ret",
    )
}
