//! The head of detectors: a label and a box from the state of a query.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    context::ForwardContext,
    forward::ForwardError,
    layer::Linear,
    weights::{Weights, WeightsError},
};

/// Linear projections with ReLU between them: `DetrMLPPredictionHead`.
pub(crate) struct DetectionMlp<B: Ops>(Vec<Linear<B>>);

impl<B: Ops> DetectionMlp<B> {
    /// `layers.0` to `layers.2`, from `width` over twice itself to `out`.
    pub(crate) fn load(w: &Weights<B>, width: usize, out: usize) -> Result<Self, WeightsError> {
        Ok(Self(
            [width, width, out]
                .into_iter()
                .enumerate()
                .map(|(index, out)| Linear::load(&w.module("layers").module(index), width, out))
                .collect::<Result<_, _>>()?,
        ))
    }

    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        // No ReLU after the last: a box has its sigmoid, and labels a softmax.
        let (last, others) = self.0.split_last().expect("it is loaded with three layers");
        last.forward(
            others
                .iter()
                .fold(x, |x, layer| activate(layer.forward(x), Activation::Relu)),
        )
    }
}

/// The map to the labels.
pub(crate) enum Labels<B: Ops> {
    Linear(Linear<B>),
    Mlp(DetectionMlp<B>),
}

/// Both heads.
pub(crate) struct DetectionHead<B: Ops> {
    /// To every label and none.
    pub(crate) labels: Labels<B>,
    /// To the centre across and down, width and height, as shares of the image.
    pub(crate) boxes: DetectionMlp<B>,
}

impl<B: Ops> DetectionHead<B> {
    /// Stores `logits` [batch, queries, labels + 1] and `pred_boxes` [batch, queries, 4] of
    /// `queries` [batch, queries, width].
    pub(crate) fn forward(
        &self,
        queries: Tensor<B, 3>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        let boxes = activate(self.boxes.forward(queries.clone()), Activation::Sigmoid);
        context.output(
            "logits",
            match &self.labels {
                Labels::Linear(linear) => linear.forward(queries),
                Labels::Mlp(mlp) => mlp.forward(queries),
            },
        )?;
        context.output("pred_boxes", boxes)
    }
}
