//! Zero padding of one dimension.

use crate::backend::Ops;
use burn_tensor::Tensor;

/// `x` with `before` zeros before it and `after` zeros after it in `dimension`.
pub fn between_zeros<B: Ops, const D: usize>(
    x: Tensor<B, D>,
    dimension: usize,
    before: usize,
    after: usize,
) -> Tensor<B, D> {
    if before + after == 0 {
        return x;
    }
    // Composed: `pad` of burn 0.21 takes the default type of the device and panics at another.
    let zeros = |count: usize| {
        let mut shape = x.dims();
        shape[dimension] = count;
        (count > 0).then(|| Tensor::zeros(shape, (&x.device(), x.dtype())))
    };
    let parts = [zeros(before), Some(x.clone()), zeros(after)];
    Tensor::cat(parts.into_iter().flatten().collect(), dimension)
}
