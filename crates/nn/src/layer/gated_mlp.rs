//! The gated MLP after attention (Shazeer 2020).

use super::{Linear, ProjectionNames, Projections};
use crate::{
    backend::{Activation, Ops, activate},
    weights::{Weights, WeightsError},
};
use burn_tensor::Tensor;

/// down(activation(gate(x)) * up(x)).
pub struct GatedMlp<B: Ops> {
    /// Gate and up.
    projections: Projections<B, 2>,
    activation: Activation,
    down: Linear<B>,
}

impl<B: Ops> GatedMlp<B> {
    /// Gate and up, and down, by their names, from `width` to `inner` and back.
    pub fn load(
        w: &Weights<B>,
        (gate_and_up, down): (ProjectionNames<2>, &str),
        [width, inner]: [usize; 2],
        activation: Activation,
        bias: bool,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            projections: Projections::load(w, gate_and_up, width, [inner, inner], bias)?,
            activation,
            down: Linear::load_with_bias(&w.module(down), inner, width, bias)?,
        })
    }

    /// [batch, seq, width].
    pub fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let [gate, up] = self.projections.forward(x);
        self.down.forward(activate(gate, self.activation) * up)
    }
}
