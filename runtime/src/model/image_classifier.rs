//! The end of an image model that pools: labels, or what a base model gives.

use super::{class::Head, forward::ForwardError, network::Pass};
use crate::{
    backend::Ops,
    layer::Linear,
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// A map to labels; a base model has none.
pub(super) struct ImageClassifier<B: Ops>(Option<Linear<B>>);

impl<B: Ops> ImageClassifier<B> {
    /// `classifier` of the whole model `w`.
    pub(super) fn load(head: Head, [width, labels]: [usize; 2], w: &Weights<B>) -> Result<Self, WeightsError> {
        let load = || Linear::load(&w.module("classifier"), width, labels);
        (head == Head::ImageClassification).then(load).transpose().map(Self)
    }

    /// `logits` [batch, labels], or `last_hidden_state` as it is and `pooler_output` [batch, width].
    pub(super) fn forward<const D: usize>(
        &self,
        last: Tensor<B, D>,
        pooled: Tensor<B, 2>,
        pass: &mut Pass<'_, B>,
    ) -> Result<(), ForwardError> {
        if let Self(Some(classifier)) = self {
            return pass.output("logits", classifier.forward(pooled));
        }
        pass.output("last_hidden_state", last)?;
        pass.output("pooler_output", pooled)
    }
}
