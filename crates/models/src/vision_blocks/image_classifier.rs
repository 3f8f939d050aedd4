//! The end of an image model that pools: labels, or the outputs of a base model.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// A map to labels; a base model has none.
pub(crate) struct ImageClassifier<B: Ops>(Option<Linear<B>>);

impl<B: Ops> ImageClassifier<B> {
    /// `classifier` of the whole model `w`.
    pub(crate) fn load(
        head: Head,
        width: usize,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        (head == Head::ImageClassification)
            .then(|| Linear::load(&w.module("classifier"), width, labels))
            .transpose()
            .map(Self)
    }

    /// `logits` [batch, labels], or `last_hidden_state` as it is and `pooler_output` [batch,
    /// width].
    pub(crate) fn forward<const D: usize>(
        &self,
        last: Tensor<B, D>,
        pooled: Tensor<B, 2>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        if let Self(Some(classifier)) = self {
            return context.output("logits", classifier.forward(pooled));
        }
        context.output("last_hidden_state", last)?;
        context.output("pooler_output", pooled)
    }
}
