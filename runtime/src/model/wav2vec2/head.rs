//! What wav2vec 2.0 and HuBERT compute from the hidden states: tokens for frames, or labels for a recording.

use super::config::Wav2Vec2Config;
use crate::{
    backend::Ops,
    layer::Linear,
    model::{ForwardError, Head, network::Pass},
    weights::{Weights, WeightsError},
};
use burn::tensor::{DType, Tensor, TensorData, activation};

/// What is computed from the hidden states.
pub(super) enum FrameHead<B: Ops> {
    /// `last_hidden_state`.
    Base,
    /// `logits` [batch, frames, vocab].
    Frames(Linear<B>),
    /// `logits` [batch, labels], of the mean over the frames of the recording.
    Pooled { layer_weights: Option<Tensor<B, 1>>, projector: Linear<B>, classifier: Linear<B> },
}

impl<B: Ops> FrameHead<B> {
    pub(super) fn load(
        config: &Wav2Vec2Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let (width, inner) = (config.hidden_size, config.classifier_proj_size);
        Ok(match head {
            Head::Ctc => Self::Frames(Linear::load(&w.module("lm_head"), width, config.vocab_size)?),
            Head::SequenceClassification => {
                let weights = || w.tensor("layer_weights", [config.num_hidden_layers + 1]);
                Self::Pooled {
                    layer_weights: config.use_weighted_layer_sum.then(weights).transpose()?,
                    projector: Linear::load(&w.module("projector"), width, inner)?,
                    classifier: Linear::load(&w.module("classifier"), inner, labels)?,
                }
            }
            _ => Self::Base,
        })
    }

    pub(super) fn forward(
        &self,
        last: Tensor<B, 3>,
        states: Vec<Tensor<B, 3>>,
        share: Option<(Tensor<B, 3>, Vec<usize>)>,
        pass: &mut Pass<'_, B>,
    ) -> Result<(), ForwardError> {
        match self {
            Self::Base => pass.output("last_hidden_state", last),
            Self::Frames(head) => pass.output("logits", head.forward(last)),
            Self::Pooled { layer_weights, projector, classifier } => {
                let hidden = match layer_weights {
                    Some(weights) => weighted(states, weights),
                    None => last,
                };
                let projected = projector.forward(hidden);
                pass.output("logits", classifier.forward(pooled(projected, share)))
            }
        }
    }
}

/// The sum of all hidden states, each times its softmaxed weight.
fn weighted<B: Ops>(states: Vec<Tensor<B, 3>>, weights: &Tensor<B, 1>) -> Tensor<B, 3> {
    let dtype = weights.dtype();
    let weights = activation::softmax(weights.clone().cast(DType::F32), 0).cast(dtype);
    let terms = states.into_iter().enumerate();
    let terms = terms.map(|(index, state)| state * weights.clone().narrow(0, index, 1).reshape([1, 1, 1]));
    terms.reduce(|sum, term| sum + term).expect("there is the state of the embeddings")
}

/// The mean over the frames of each recording, [batch, width]; computed in f32 and rounded once.
fn pooled<B: Ops>(x: Tensor<B, 3>, share: Option<(Tensor<B, 3>, Vec<usize>)>) -> Tensor<B, 2> {
    let ([batch, frames, width], dtype, device) = (x.dims(), x.dtype(), x.device());
    let (x, counts) = match share {
        Some((share, real)) => (x * share, real),
        None => (x, vec![frames; batch]),
    };
    let counts: Vec<f32> = counts.into_iter().map(|count| 1.0 / count as f32).collect();
    let shares = Tensor::<B, 2>::from_data(TensorData::new(counts, [batch, 1]), (&device, DType::F32));
    let sum = x.cast(DType::F32).sum_dim(1).reshape([batch, width]);
    (sum * shares).cast(dtype)
}
