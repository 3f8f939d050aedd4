//! The two-layer perceptron behind attention.

use super::Linear;
use crate::backend::{Activation, Ops, activate};
use burn::tensor::Tensor;

/// down(activation(up(x))).
pub(crate) struct FeedForward<B: Ops> {
    pub(crate) up: Linear<B>,
    pub(crate) activation: Activation,
    pub(crate) down: Linear<B>,
}

impl<B: Ops> FeedForward<B> {
    /// [batch, seq, width].
    pub(crate) fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.down.forward(activate(self.up.forward(x), self.activation))
    }
}
