//! The head of masked language models, with a decoder that is tied to the embedding or not.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::{Activation, Ops, activate},
    layer::{LayerNorm, Linear},
    weights::{Weights, WeightsError},
};

/// Dense, activation, norm, and a decoder that is usually the embedding: `BertLMPredictionHead` and
/// its relatives.
pub(crate) struct MaskedLm<B: Ops> {
    pub(crate) dense: Linear<B>,
    pub(crate) activation: Activation,
    pub(crate) norm: LayerNorm<B>,
    pub(crate) decoder: Linear<B>,
}

impl<B: Ops> MaskedLm<B> {
    pub(super) fn forward(&self, hidden: Tensor<B, 3>) -> Tensor<B, 3> {
        let hidden = activate(self.dense.forward(hidden), self.activation);
        self.decoder.forward(self.norm.forward(hidden))
    }
}

/// The names of the tensors of a masked language model's head.
pub(crate) struct MaskedLmNames {
    pub(crate) dense: &'static str,
    pub(crate) norm: &'static str,
    pub(crate) decoder: &'static str,
    /// The name of a separate bias, to which the decoder's is tied.
    pub(crate) bias: Option<&'static str>,
}

/// The width of the hidden states, that before the decoder, the size of the vocabulary, and how the
/// head is normalised and tied.
pub(crate) struct MaskedLmShape {
    pub(crate) width: usize,
    pub(crate) inner: usize,
    pub(crate) vocab: usize,
    pub(crate) activation: Activation,
    pub(crate) eps: f64,
    pub(crate) tied: bool,
}

impl<B: Ops> MaskedLm<B> {
    /// `embedding` [vocab, inner] is the decoder's weight if the configuration ties them.
    pub(crate) fn load(
        w: &Weights<B>,
        names: &MaskedLmNames,
        shape: &MaskedLmShape,
        embedding: Tensor<B, 2>,
    ) -> Result<Self, WeightsError> {
        let MaskedLmShape {
            width,
            inner,
            vocab,
            ..
        } = *shape;
        Ok(Self {
            dense: Linear::load(&w.module(names.dense), width, inner)?,
            activation: shape.activation,
            norm: LayerNorm::load(&w.module(names.norm), inner, shape.eps)?,
            decoder: if shape.tied {
                tied_decoder(w, names, vocab, embedding)?
            } else {
                untied_decoder(w, names, inner, vocab)?
            },
        })
    }
}

fn tied_decoder<B: Ops>(
    w: &Weights<B>,
    names: &MaskedLmNames,
    vocab: usize,
    embedding: Tensor<B, 2>,
) -> Result<Linear<B>, WeightsError> {
    let decoder = w.module(names.decoder);
    // Some files have the tied matrix a second time, under the decoder's name.
    decoder.mark_tied("weight");
    let bias = match names.bias {
        Some(bias) => {
            decoder.mark_tied("bias");
            // `BertLMPredictionHead` ties the decoder's bias to this one.
            w.tensor(bias, [vocab])?
        }
        None => decoder.tensor("bias", [vocab])?,
    };
    Ok(Linear::tied(embedding, Some(bias)))
}

fn untied_decoder<B: Ops>(
    w: &Weights<B>,
    names: &MaskedLmNames,
    width: usize,
    vocab: usize,
) -> Result<Linear<B>, WeightsError> {
    // Saved with every head of this kind, but without tying no forward pass reads it.
    if let Some(bias) = names.bias {
        w.mark_unused(bias);
    }
    Linear::load(&w.module(names.decoder), width, vocab)
}
