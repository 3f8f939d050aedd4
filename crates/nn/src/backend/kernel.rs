//! f32 kernels for the host processor, on plain slices.
//!
//! Each body is compiled for every instruction set that `pulp` supports, and the best one is chosen
//! at run time. Compared with burn's operators they save passes over memory: one for a
//! normalisation or a softmax instead of five.
//!
//! A body is a struct with an always inlined `with_simd` and plain loops: a closure that the
//! compiler does not inline would be compiled once, without the instruction set of its caller.

mod activation;
mod exponential;
mod heads;
mod linear;
mod norm;
mod softmax;
mod transposed;

pub(super) use activation::activation;
pub(super) use heads::merge_heads;
pub(super) use linear::{StridedMatrix, linear};
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
