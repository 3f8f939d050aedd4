//! The fields of `config.json` that BERT, RoBERTa, ELECTRA and ALBERT have in common.

use super::{bert_encoder::BertLayerShape, text_embeddings::EmbeddingsShape};
use crate::config::{absolute_positions, divides_into_heads};
use serde::Deserialize;
use testgen_nn::backend::Activation;

/// To be flattened; the defaults are BERT's.
#[derive(Debug, Deserialize)]
pub(crate) struct BertFields {
    vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    pub(crate) hidden_act: Activation,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
    position_embedding_type: String,
    pub(crate) tie_word_embeddings: bool,
}

impl BertFields {
    pub(crate) fn validate(&self) -> Result<(), String> {
        divides_into_heads(self.hidden_size, self.num_attention_heads)?;
        absolute_positions(&self.position_embedding_type)
    }

    /// The embeddings' tables, of `width`.
    pub(crate) fn tables(&self, width: usize) -> EmbeddingsShape {
        // Not of `hidden_size`: the tables of ALBERT and ELECTRA can be narrower than the layers.
        EmbeddingsShape {
            width,
            vocab: self.vocab_size,
            positions: self.max_position_embeddings,
            token_types: self.type_vocab_size,
            eps: self.layer_norm_eps,
        }
    }

    /// A layer.
    pub(crate) fn layer(&self) -> BertLayerShape {
        BertLayerShape {
            width: self.hidden_size,
            heads: self.num_attention_heads,
            inner: self.intermediate_size,
            activation: self.hidden_act,
            eps: self.layer_norm_eps,
        }
    }
}
