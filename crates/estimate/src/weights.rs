//! The bytes of the tensors that a model keeps.

use crate::{
    checkpoint::StoredTensor,
    tensor::{Backend, ElementType},
};
use std::collections::BTreeMap;

/// The tensors of a checkpoint that a model keeps.
#[derive(Debug)]
pub(crate) struct CheckpointSize {
    kept: Vec<KeptTensor>,
    count: u64,
    /// Whether all of them are f32 in the file.
    single: bool,
}

/// A tensor as rows of the last dimension that it has in memory.
#[derive(Debug, Clone, Copy)]
struct KeptTensor {
    rows: u64,
    columns: u64,
    /// Whether T5 keeps it in f32 while it computes in f16.
    wide: bool,
}

/// The bytes to whose multiples CUDA aligns the rows of a matrix, and the fewest: cubecl 0.10 takes
/// the power of two from a row's size on, within these limits.
const ALIGNMENT: [u64; 2] = [16, 512];

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
        let mut all: Vec<KeptTensor> = kept
            .iter()
            .map(|(name, stored)| {
                let is_wide = t5 && WIDE.iter().any(|end| name.ends_with(end));
                KeptTensor::new(name, stored, is_wide)
            })
            .collect();
        let tables: Vec<KeptTensor> = kept
            .iter()
            .filter(|(name, _)| TABLES.iter().any(|end| name.ends_with(end)))
            .map(|(name, table)| KeptTensor::new(name, table, false))
            .collect();
        // The file has one table, which encoder and decoder both load.
        if let (true, [table]) = (stacks, tables.as_slice()) {
            all.push(*table);
        }
        Self {
            kept: all,
            count: tensors.len() as u64,
            single: floats.iter().all(|(_, stored)| stored.dtype == "F32"),
        }
    }

    /// On a GPU with the gaps between aligned rows.
    pub(crate) fn bytes(&self, element: ElementType, backend: Backend) -> u64 {
        self.kept
            .iter()
            .map(|tensor| tensor.bytes(element, backend))
            .fold(0, u64::saturating_add)
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn is_single(&self) -> bool {
        self.single
    }
}

impl KeptTensor {
    fn new(name: &str, stored: &StoredTensor, wide: bool) -> Self {
        let elements = stored.elements();
        let columns = match stored.shape.as_slice() {
            // All matrices of a layer's experts are one tensor without gaps.
            _ if name.contains("experts.") => elements,
            [_, width] if is_table(name) => *width,
            // A GPU has the matrices of `nn.Linear` as [in, out].
            [out, _] => *out,
            _ => elements,
        };
        Self {
            rows: elements / columns.max(1),
            columns,
            wide,
        }
    }

    fn bytes(&self, element: ElementType, backend: Backend) -> u64 {
        let size = match element {
            ElementType::F16 if self.wide => ElementType::F32.bytes(),
            _ => element.bytes(),
        };
        let row = self.columns.saturating_mul(size);
        let row = match backend {
            Backend::Gpu if self.rows > 1 && self.columns > 1 => aligned(row),
            Backend::Gpu | Backend::Host => row,
        };
        self.rows.saturating_mul(row)
    }
}

/// Whether a matrix has a row for each token or position.
fn is_table(name: &str) -> bool {
    let ends = EMBEDDINGS.iter().chain(&["wpe.weight"]);
    name.contains("embed") || ends.into_iter().any(|end| name.ends_with(end))
}

fn aligned(row: u64) -> u64 {
    let [fewest, most] = ALIGNMENT;
    let alignment = row
        .checked_next_power_of_two()
        .unwrap_or(most)
        .clamp(fewest, most);
    row.checked_next_multiple_of(alignment).unwrap_or(row)
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

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn rows_begin_where_a_gpu_reads_fast() {
        // As measured on an H100: 192 numbers of f32 and f16, and widths that are aligned.
        assert_eq!((aligned(768), aligned(384)), (1024, 512));
        assert_eq!(
            (aligned(1024), aligned(256), aligned(2816)),
            (1024, 256, 3072)
        );
    }
}
