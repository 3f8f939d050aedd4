//! Vectors of length one.

use crate::backend::Ops;
use burn_tensor::{DType, Tensor};

/// Every row of [rows, width] divided by its Euclidean norm; computed in f32 and rounded once.
pub fn unit_length<B: Ops>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let dtype = x.dtype();
    let x = x.cast(DType::F32);
    let norm = (x.clone() * x.clone()).sum_dim(1).sqrt();
    // Without an epsilon, like `_get_vector_norm` of CLIP and `norm` in SigLIP.
    (x / norm).cast(dtype)
}
