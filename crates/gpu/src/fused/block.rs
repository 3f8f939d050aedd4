//! Reductions over the threads of a block.

use cubecl::prelude::*;

/// The number of threads for a row of `width` elements: one of two, so that few variants of a
/// kernel are compiled.
pub(super) fn threads(width: usize) -> u32 {
    if width <= NARROW { 32 } else { 256 }
}

/// Up to this width, each of 32 threads reads at most eight elements.
const NARROW: usize = 256;

/// How [`reduce`] combines two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Combination {
    Sum,
    Maximum,
}

/// The sum of every thread's `value`.
#[cube]
pub(super) fn sum(value: f32, #[comptime] threads: u32) -> f32 {
    reduce(value, Combination::Sum, threads)
}

/// The largest of every thread's `value`.
#[cube]
pub(super) fn maximum(value: f32, #[comptime] threads: u32) -> f32 {
    reduce(value, Combination::Maximum, threads)
}

/// Combines every thread's `value`. Every thread gets the result.
///
/// A binary tree, not the operations of a wave: those add in an order that depends on the size of a
/// wave.
#[cube]
fn reduce(value: f32, #[comptime] combination: Combination, #[comptime] threads: u32) -> f32 {
    // Every call has separate memory, because cubecl shares it only after `free`. So the next call
    // need not wait until all threads have read this result.
    let mut shared = SharedMemory::<f32>::new(threads as usize);
    let position = UNIT_POS as usize;
    shared[position] = value;
    sync_cube();
    let mut active = (threads / 2).runtime() as usize;
    while active > 0 {
        if position < active {
            let other = shared[position + active];
            if comptime!(combination == Combination::Sum) {
                shared[position] += other;
            } else if other > shared[position] {
                // A NaN is never larger; in a softmax it shows in the exponentials.
                shared[position] = other;
            }
        }
        sync_cube();
        active /= 2;
    }
    shared[0]
}
