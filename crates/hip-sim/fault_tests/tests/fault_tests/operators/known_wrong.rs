//! Operators that burn 0.21 computes wrongly on GPUs.

use super::{Values, filled, values};
use burn_tensor::{DType, backend::Backend};

/// A permuted tensor whose last dimension has size 1 gets wrong strides when a dimension is added:
/// `split_strides` of burn-std stops at the last dimension and assigns its stride to the next one.
/// `product_of_windows` of the convolution layer works around it.
pub(super) fn all<B: Backend>(device: &B::Device) -> Vec<(String, Values)> {
    let permuted = filled::<B, 3>(device, [1, 4, 6], 37, DType::F32).permute([2, 1, 0]);
    let reshaped = permuted.reshape([6, 4, 1, 1]);
    vec![(
        "[1, 4, 6] permuted to [6, 4, 1], reshaped to [6, 4, 1, 1]".to_owned(),
        values(reshaped),
    )]
}
