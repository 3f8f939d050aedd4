//! The heads of wav2vec 2.0 and HuBERT: tokens for frames, or labels for a recording.

use super::config::Wav2Vec2Config;
use crate::speech::audio_classifier::{AudioClassifier, FrameShare};
use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    layer::Linear,
    weights::{Weights, WeightsError},
};
use testgen_types::Head;

/// The output that is computed from the hidden states.
pub(super) enum FrameHead<B: Ops> {
    /// `last_hidden_state`.
    Base,
    /// `logits` [batch, frames, vocab].
    Frames(Linear<B>),
    /// `logits` [batch, labels].
    Labels(AudioClassifier<B>),
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
            Head::Ctc => Self::Frames(Linear::load(
                &w.module("lm_head"),
                width,
                config.vocab_size,
            )?),
            Head::SequenceClassification => {
                let states = config
                    .use_weighted_layer_sum
                    // The input of the first layer is a hidden state, too.
                    .then_some(config.num_hidden_layers + 1);
                Self::Labels(AudioClassifier::load([width, inner, labels], states, w)?)
            }
            // The registry lists no other head than the base class.
            _ => Self::Base,
        })
    }

    pub(super) fn forward(
        &self,
        last: Tensor<B, 3>,
        states: Vec<Tensor<B, 3>>,
        share: Option<FrameShare<B>>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<(), ForwardError> {
        match self {
            Self::Base => context.output("last_hidden_state", last),
            Self::Frames(head) => context.output("logits", head.forward(last)),
            // The last of the states is before the final norm: `Wav2Vec2Model` captures them with
            // `tie_last_hidden_states=False`.
            Self::Labels(classifier) => {
                context.output("logits", classifier.forward(last, states, share))
            }
        }
    }
}
