//! Soft limits of scores and logits (Gemma 2).

use crate::backend::Ops;
use burn_tensor::{DType, Tensor};

/// `cap` tanh(`x` `scale` / `cap`): about `x` `scale` where that is small, never beyond `cap`. In
/// f32, rounded once.
pub fn soft_cap<B: Ops, const D: usize>(x: Tensor<B, D>, scale: f64, cap: f64) -> Tensor<B, D> {
    let dtype = x.dtype();
    let capped = (x.cast(DType::F32) * (scale / cap)).tanh() * cap;
    capped.cast(dtype)
}
