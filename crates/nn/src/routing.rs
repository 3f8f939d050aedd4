//! The decision of a router over experts: made by a layer, traced by the context of a call.

use crate::backend::Ops;
use burn_tensor::Tensor;

/// The decision of a router, [batch, seq, count]; computed in f32, returned in the model's type.
pub struct Routing<B: Ops> {
    /// Of every expert: the softmax over all of them.
    pub probabilities: Tensor<B, 3>,
    /// 0 for experts that were not chosen.
    pub weights: Tensor<B, 3>,
}
