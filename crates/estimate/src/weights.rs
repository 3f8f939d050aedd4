//! The bytes of the tensors that a model keeps.

use crate::{checkpoint::StoredTensor, tensor::ElementType};
use std::collections::BTreeMap;

/// The tensors of a checkpoint, summed.
#[derive(Debug)]
pub(crate) struct CheckpointSize {
    elements: u64,
    /// Of matrices and norms that T5 keeps in f32 while it computes in f16.
    wide: u64,
    count: u64,
    /// Whether all of them are f32 in the file.
    single: bool,
}

/// The ends of the names of matrices that may be the embedding.
const TIED: [&str; 7] = [
    "lm_head.weight",
    "embed_out.weight",
    "decoder.weight",
    "vocab_projector.weight",
    "proj_out.weight",
    "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight",
];

/// The ends of names of buffers that older releases saved and no model reads.
const IGNORED: [&str; 5] = [
    "attention.bias",
    "attention.masked_bias",
    "attn.bias",
    "attn.masked_bias",
    "rotary_emb.inv_freq",
];

/// The tables of tokens of an encoder and a decoder.
const TABLES: [&str; 3] = [
    "shared.weight",
    "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight",
];

/// The tensors that T5 keeps in f32.
const WIDE: [&str; 2] = ["DenseReluDense.wo.weight", "layer_norm.weight"];

/// The ends of the names of embeddings.
const EMBEDDINGS: [&str; 7] = [
    "shared.weight",
    "embed_tokens.weight",
    "word_embeddings.weight",
    "wte.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "embeddings.weight",
];

impl CheckpointSize {
    /// `tied`: whether the configuration ties the head to the embedding. `t5`: whether some of them
    /// stay in f32; `stacks`: whether encoder and decoder load a table each, which may be one
    /// tensor.
    pub(crate) fn new(
        tensors: BTreeMap<String, StoredTensor>,
        tied: bool,
        [t5, stacks]: [bool; 2],
    ) -> Self {
        let floats: Vec<(&String, &StoredTensor)> = tensors
            .iter()
            .filter(|(name, stored)| {
                stored.is_float() && !IGNORED.iter().any(|end| name.ends_with(end))
            })
            .collect();
        let kept: Vec<_> = floats
            .iter()
            .filter(|(name, stored)| !(tied && is_copy(name, stored, &tensors)))
            .collect();
        let tables: Vec<u64> = kept
            .iter()
            .filter(|(name, _)| TABLES.iter().any(|end| name.ends_with(end)))
            .map(|(_, table)| table.elements())
            .collect();
        let again = if let (true, [table]) = (stacks, tables.as_slice()) {
            *table
        } else {
            0
        };
        Self {
            elements: kept
                .iter()
                .map(|(_, stored)| stored.elements())
                .fold(again, u64::saturating_add),
            wide: kept
                .iter()
                .filter(|(name, _)| t5 && WIDE.iter().any(|end| name.ends_with(end)))
                .map(|(_, stored)| stored.elements())
                .sum(),
            count: tensors.len() as u64,
            single: floats.iter().all(|(_, stored)| stored.dtype == "F32"),
        }
    }

    pub(crate) fn bytes(&self, element: ElementType) -> u64 {
        let wide = if element == ElementType::F16 {
            self.wide.saturating_mul(2)
        } else {
            0
        };
        self.elements
            .saturating_mul(element.bytes())
            .saturating_add(wide)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn is_single(&self) -> bool {
        self.single
    }
}

/// Whether a tensor repeats an embedding, which is read instead.
fn is_copy(name: &str, stored: &StoredTensor, tensors: &BTreeMap<String, StoredTensor>) -> bool {
    let is_head = TIED.iter().any(|end| name.ends_with(end));
    is_head
        && tensors.iter().any(|(other, table)| {
            // Another name that sorts before a second copy: of two tables, one is read.
            let is_table = EMBEDDINGS.iter().any(|end| other.ends_with(end));
            let first = !TIED.iter().any(|end| other.ends_with(end)) || other.as_str() > name;
            is_table && first && other != name && table.shape == stored.shape
        })
}
