//! What wav2vec 2.0 and HuBERT compute from the hidden states: tokens for frames, or labels for a recording.

use super::config::Wav2Vec2Config;
use crate::{
    backend::Ops,
    layer::Linear,
    model::{
        ForwardError, Head,
        network::Pass,
        recording_classifier::{RecordingClassifier, Share},
    },
    weights::{Weights, WeightsError},
};
use burn::tensor::Tensor;

/// What is computed from the hidden states.
pub(super) enum FrameHead<B: Ops> {
    /// `last_hidden_state`.
    Base,
    /// `logits` [batch, frames, vocab].
    Frames(Linear<B>),
    /// `logits` [batch, labels].
    Labels(RecordingClassifier<B>),
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
                let states = config.use_weighted_layer_sum.then_some(config.num_hidden_layers + 1);
                Self::Labels(RecordingClassifier::load([width, inner, labels], states, w)?)
            }
            _ => Self::Base,
        })
    }

    pub(super) fn forward(
        &self,
        last: Tensor<B, 3>,
        states: Vec<Tensor<B, 3>>,
        share: Option<Share<B>>,
        pass: &mut Pass<'_, B>,
    ) -> Result<(), ForwardError> {
        match self {
            Self::Base => pass.output("last_hidden_state", last),
            Self::Frames(head) => pass.output("logits", head.forward(last)),
            Self::Labels(classifier) => pass.output("logits", classifier.forward(last, states, share)),
        }
    }
}
