//! The two-layer MLP after attention.

use super::Linear;
use crate::{
    backend::{Activation, Ops, activate},
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// down(activation(up(x))).
pub struct Mlp<B: Ops> {
    /// From the width of the hidden states to the inner one.
    pub up: Linear<B>,
    /// Between the two.
    pub activation: Activation,
    /// Back to the width of the hidden states.
    pub down: Linear<B>,
}

impl<B: Ops> Mlp<B> {
    /// Up and down by their names, from `width` to `inner` and back.
    pub fn load(
        w: &Weights<B>,
        [up, down]: [&str; 2],
        [width, inner]: [usize; 2],
        activation: Activation,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            up: Linear::load_with_bias(&w.module(up), width, inner, bias)?,
            activation,
            down: Linear::load_with_bias(&w.module(down), inner, width, bias)?,
        })
    }

    /// [batch, seq, width].
    pub fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        self.down
            .forward(activate(self.up.forward(x), self.activation))
    }
}
