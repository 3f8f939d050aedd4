//! Lookup tables.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn_tensor::{Int, Tensor, module};

/// One row for each index.
pub struct Embedding<B: Ops> {
    weight: Tensor<B, 2>,
}

impl<B: Ops> Embedding<B> {
    /// `weight` [count, width].
    pub fn load(w: &Weights<B>, count: usize, width: usize) -> Result<Self, WeightsError> {
        Ok(Self {
            weight: w.tensor("weight", [count, width])?,
        })
    }

    /// [batch, seq] to [batch, seq, width]. The caller has checked the range of the indices.
    pub fn forward(&self, indices: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        module::embedding(self.weight.clone(), indices)
    }

    /// The number of rows; indices are below it.
    pub fn rows(&self) -> usize {
        self.weight.dims()[0]
    }

    /// The table [count, width], for a tied head.
    pub fn weight(&self) -> Tensor<B, 2> {
        self.weight.clone()
    }
}
