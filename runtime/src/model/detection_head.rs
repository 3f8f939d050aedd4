//! What detectors make of the state of a query: a label and a box.

use super::{forward::ForwardError, network::Pass};
use crate::{
    backend::{Activation, Ops, activate},
    layer::Linear,
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// Linear maps with ReLU between them: `DetrMLPPredictionHead`.
pub(super) struct Perceptron<B: Ops>(Vec<Linear<B>>);

impl<B: Ops> Perceptron<B> {
    /// `layers.0` to `layers.2`, from `width` over twice itself to `out`.
    pub(super) fn load(w: &Weights<B>, width: usize, out: usize) -> Result<Self, WeightsError> {
        let layer = |(index, out)| Linear::load(&w.module("layers").module(index), width, out);
        Ok(Self([width, width, out].into_iter().enumerate().map(layer).collect::<Result<_, _>>()?))
    }

    fn forward(&self, x: Tensor<B, 3>) -> Tensor<B, 3> {
        let (last, others) = self.0.split_last().expect("it is loaded with three layers");
        last.forward(others.iter().fold(x, |x, layer| activate(layer.forward(x), Activation::Relu)))
    }
}

/// The map to the labels.
pub(super) enum Labels<B: Ops> {
    Linear(Linear<B>),
    Perceptron(Perceptron<B>),
}

/// Both heads.
pub(super) struct DetectionHead<B: Ops> {
    /// To every label and none.
    pub(super) labels: Labels<B>,
    /// To the centre across and down, width and height, as shares of the image.
    pub(super) boxes: Perceptron<B>,
}

impl<B: Ops> DetectionHead<B> {
    /// Leaves `logits` [batch, queries, labels + 1] and `pred_boxes` [batch, queries, 4] of `queries` [batch, queries, width].
    pub(super) fn forward(&self, queries: Tensor<B, 3>, pass: &mut Pass<'_, B>) -> Result<(), ForwardError> {
        let boxes = activate(self.boxes.forward(queries.clone()), Activation::Sigmoid);
        pass.output(
            "logits",
            match &self.labels {
                Labels::Linear(linear) => linear.forward(queries),
                Labels::Perceptron(perceptron) => perceptron.forward(queries),
            },
        )?;
        pass.output("pred_boxes", boxes)
    }
}
