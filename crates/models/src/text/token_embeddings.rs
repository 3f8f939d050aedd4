//! Token embeddings of causal decoders, which some types scale.

use super::causal_decoder::{Embeddings, States};
use burn_tensor::{DType, Tensor};
use half::{bf16, f16};
use testgen_nn::{
    backend::Ops,
    inputs::Inputs,
    layer::Embedding,
    weights::{Weights, WeightsError},
};

/// A table [vocab, width], and what its rows are multiplied by.
pub(crate) struct TokenEmbeddings<B: Ops> {
    tokens: Embedding<B>,
    scale: Option<f64>,
}

impl<B: Ops> TokenEmbeddings<B> {
    /// Loads `embed_tokens` of the decoder at `w`.
    pub(crate) fn load(
        w: &Weights<B>,
        vocab: usize,
        width: usize,
        scale: Option<f64>,
    ) -> Result<Self, WeightsError> {
        let tokens = Embedding::load(&w.module("embed_tokens"), vocab, width)?;
        Ok(Self {
            tokens,
            // `embed_scale.to(self.weight.dtype)` of `GemmaTextScaledWordEmbedding`.
            scale: scale.map(|scale| rounded(scale, w.dtype())),
        })
    }
}

impl<B: Ops> Embeddings<B> for TokenEmbeddings<B> {
    fn embed(&self, inputs: &Inputs<'_, B>, past: usize) -> States<B> {
        let x = self.tokens.embed(inputs, past)?;
        Ok(match self.scale {
            Some(scale) => x * scale,
            None => x,
        })
    }

    fn table(&self) -> Tensor<B, 2> {
        self.tokens.weight()
    }
}

/// transformers keeps the scale in the type of the embeddings, so its rounding is part of the
/// result.
fn rounded(scale: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(scale).to_f64(),
        DType::BF16 => bf16::from_f64(scale).to_f64(),
        // Rounded to f32 by the product itself, as `torch.tensor` keeps it.
        _ => scale,
    }
}
