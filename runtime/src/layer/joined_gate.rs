//! The perceptron whose inner values are gated (Shazeer 2020), with both halves in one matrix.

use super::Linear;
use crate::{
    backend::{Activation, Ops, activate},
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// down(activation(first half of up(x)) * second half of up(x)).
pub(crate) struct JoinedGate<B: Ops> {
    up: Linear<B>,
    activation: Activation,
    down: Linear<B>,
}

impl<B: Ops> JoinedGate<B> {
    /// `up` [2 * inner, width] and `down` [width, inner], with biases where `bias` says so.
    pub(crate) fn load(
        w: &Weights<B>,
        [up, down]: [&str; 2],
        [width, inner]: [usize; 2],
        activation: Activation,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            up: Linear::load_with_bias(&w.module(up), width, 2 * inner, bias)?,
            activation,
            down: Linear::load_with_bias(&w.module(down), inner, width, bias)?,
        })
    }

    /// [batch, seq, width].
    pub(crate) fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let up = self.up.forward(x);
        let inner = up.dims()[2] / 2;
        let gate = activate(up.clone().narrow(2, 0, inner), self.activation);
        self.down.forward(gate * up.narrow(2, inner, inner))
    }
}
