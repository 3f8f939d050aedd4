//! Averages over positions and patches.

use crate::backend::Ops;
use burn_tensor::{DType, Tensor};

/// The mean over `dimension`, which is kept with length 1; summed in f32 and rounded once.
pub fn mean<B: Ops, const D: usize>(x: Tensor<B, D>, dimension: usize) -> Tensor<B, D> {
    let dtype = x.dtype();
    x.cast(DType::F32).mean_dim(dimension).cast(dtype)
}
