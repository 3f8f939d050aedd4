//! f32 kernels for the host processor, on plain slices.
//!
//! Each body is compiled for every instruction set that `pulp` knows, and the best one is chosen at run time. What they
//! save over burn's operators is passes over memory: one for a normalisation or a softmax instead of five.
//!
//! A body is a struct with an always inlined `with_simd`, and plain loops in it: a closure is compiled once, for no
//! instruction set in particular, wherever the compiler does not inline it into every one of its copies.

mod activation;
mod affine;
mod exponential;
mod heads;
mod norm;
mod softmax;
mod transposed;

pub(super) use activation::activation;
pub(super) use affine::{Matrix, affine};
pub(super) use heads::merge_heads;
pub(super) use norm::{layer_norm, rms_norm};
pub(super) use softmax::{Bias, masked_softmax};

/// The number of partial sums that let a reduction use whole vectors.
const LANES: usize = 64;

/// Elements below which a second thread costs more than it saves.
const PARALLEL: usize = 1 << 14;

/// Rows of `width` elements, in groups that are worth a task.
fn rows_per_task(width: usize) -> usize {
    PARALLEL.div_ceil(width.max(1))
}
