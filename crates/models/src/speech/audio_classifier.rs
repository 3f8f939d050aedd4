//! Labels for a recording from the hidden states of its frames: wav2vec 2.0, HuBERT and Whisper
//! have the same classifier.

use burn_tensor::{DType, Tensor, TensorData, activation};
use testgen_nn::{
    backend::Ops,
    layer::Linear,
    weights::{Weights, WeightsError},
};

/// A projection, the mean over the frames of the recording, and one score per label.
pub(crate) struct AudioClassifier<B: Ops> {
    /// [states], where all hidden states are read and not only the last.
    layer_weights: Option<Tensor<B, 1>>,
    projector: Linear<B>,
    classifier: Linear<B>,
}

/// The mask of the frames that belong to a recording: [batch, frames, 1], 1 there and 0 after it;
/// and their number in each row.
pub(crate) type FrameShare<B> = (Tensor<B, 3>, Vec<usize>);

impl<B: Ops> AudioClassifier<B> {
    /// `states` is the number of hidden states, with the embeddings, if each has a weight.
    pub(crate) fn load(
        [width, inner, labels]: [usize; 3],
        states: Option<usize>,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        Ok(Self {
            layer_weights: states
                .map(|states| w.tensor("layer_weights", [states]))
                .transpose()?,
            projector: Linear::load(&w.module("projector"), width, inner)?,
            classifier: Linear::load(&w.module("classifier"), inner, labels)?,
        })
    }

    /// `logits` [batch, labels] of `last` [batch, frames, width], or of all hidden states; without
    /// `share` every frame counts.
    pub(crate) fn forward(
        &self,
        last: Tensor<B, 3>,
        states: Vec<Tensor<B, 3>>,
        share: Option<FrameShare<B>>,
    ) -> Tensor<B, 2> {
        let hidden = match &self.layer_weights {
            Some(weights) => weighted(states, weights),
            None => last,
        };
        self.classifier
            .forward(pooled(self.projector.forward(hidden), share))
    }
}

/// The sum of all hidden states, each times its softmaxed weight.
fn weighted<B: Ops>(states: Vec<Tensor<B, 3>>, weights: &Tensor<B, 1>) -> Tensor<B, 3> {
    let dtype = weights.dtype();
    // Back in the model's type before the products, as `nn.functional.softmax` returns it.
    let weights = activation::softmax(weights.clone().cast(DType::F32), 0).cast(dtype);
    let terms = states.into_iter().enumerate();
    let terms =
        terms.map(|(index, state)| state * weights.clone().narrow(0, index, 1).reshape([1, 1, 1]));
    terms
        .reduce(|sum, term| sum + term)
        .expect("there is the state of the embeddings")
}

/// The mean over the frames of each recording, [batch, width]; computed in f32 and rounded once.
fn pooled<B: Ops>(x: Tensor<B, 3>, share: Option<FrameShare<B>>) -> Tensor<B, 2> {
    let ([batch, frames, width], dtype, device) = (x.dims(), x.dtype(), x.device());
    // Set to zero again: frames after the end have the bias of the projector.
    let (x, counts) = match share {
        Some((share, real)) => (x * share, real),
        None => (x, vec![frames; batch]),
    };
    // No count is 0: `FeatureEncoder::real` returns at least one frame.
    let counts: Vec<f32> = counts.into_iter().map(|count| 1.0 / count as f32).collect();
    let shares =
        Tensor::<B, 2>::from_data(TensorData::new(counts, [batch, 1]), (&device, DType::F32));
    let sum = x.cast(DType::F32).sum_dim(1).reshape([batch, width]);
    (sum * shares).cast(dtype)
}
