//! Reductions over the threads of a block.

use cubecl::prelude::*;

/// The number of threads for a row of `width` elements: one of two, so that few variants of a
/// kernel are compiled.
pub(super) fn threads(width: usize) -> u32 {
    if width <= NARROW { 32 } else { 256 }
}

/// Up to this width, each of 32 threads reads at most eight elements.
const NARROW: usize = 256;

/// Threads that exchange values without shared memory: no wave is smaller.
const GROUP: u32 = 32;
/// Its binary logarithm.
const GROUP_STEPS: u32 = GROUP.ilog2();

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
/// In a tree of the threads of a group, then one group after the other: an order that does not
/// depend on the size of a wave, which is a multiple of a group.
#[cube]
fn reduce(value: f32, #[comptime] combination: Combination, #[comptime] threads: u32) -> f32 {
    let mut result = value;
    #[unroll]
    for step in 0..comptime!(GROUP_STEPS) {
        let other = plane_shuffle_xor(result, comptime!((GROUP / 2) >> step));
        result = combine(result, other, combination);
    }
    if comptime!(threads > GROUP) {
        // Every call has separate memory, because cubecl shares it only after `free`. So the next
        // call need not wait until all threads have read these results.
        let mut shared = SharedMemory::<f32>::new(comptime!((threads / GROUP) as usize));
        if UNIT_POS & (GROUP - 1) == 0 {
            shared[(UNIT_POS / GROUP) as usize] = result;
        }
        sync_cube();
        result = shared[0];
        #[unroll]
        for group in 1..comptime!(threads / GROUP) {
            result = combine(result, shared[group as usize], combination);
        }
    }
    result
}

#[cube]
fn combine(one: f32, other: f32, #[comptime] combination: Combination) -> f32 {
    match combination {
        Combination::Sum => one + other,
        // A NaN is never larger; in a softmax it shows in the exponentials.
        Combination::Maximum => select(other > one, other, one),
    }
}
