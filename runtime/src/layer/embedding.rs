//! Lookup tables.

use crate::{
    backend::Ops,
    weights::{Weights, WeightsError},
};
use burn::tensor::{Int, Tensor, module};

/// One row for each index.
pub(crate) struct Embedding<B: Ops> {
    weight: Tensor<B, 2>,
}

impl<B: Ops> Embedding<B> {
    /// `weight` [count, width].
    pub(crate) fn load(w: &Weights<B>, count: usize, width: usize) -> Result<Self, WeightsError> {
        Ok(Self { weight: w.tensor("weight", [count, width])? })
    }

    /// [batch, seq] to [batch, seq, width]. The caller has checked the range of the indices.
    pub(crate) fn forward(&self, indices: Tensor<B, 2, Int>) -> Tensor<B, 3> {
        module::embedding(self.weight.clone(), indices)
    }

    /// The number of rows; indices are below it.
    pub(crate) fn rows(&self) -> usize {
        self.weight.dims()[0]
    }

    /// The table [count, width], for a tied head.
    pub(crate) fn weight(&self) -> Tensor<B, 2> {
        self.weight.clone()
    }
}
