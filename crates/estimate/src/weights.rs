//! The bytes of the tensors that a model keeps.

use crate::{
    checkpoint::StoredTensor,
    gpu_layout,
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
    /// Whether a GPU turns it, from [out, in] to [in, out].
    turned: bool,
    kept_as: KeptAs,
}

/// The type in which a tensor is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeptAs {
    /// As the model computes.
    Model,
    /// In f32 if the model computes in f16, as T5 has some.
    SingleForF16,
    /// In f32 always.
    Single,
}

/// The elements from which on `testgen-nn` turns a matrix on the GPU.
const LARGE: u64 = 1 << 20;

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

/// The ends of the names of tensors of state space models that are kept in f32.
// Their errors would grow with every token.
const SINGLE: [&str; 5] = [
    "mixer.A_log",
    "mixer.D",
    "mixer.dt_bias",
    "mixer.conv1d.weight",
    "mixer.conv1d.bias",
];

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
                let is_single = SINGLE.iter().any(|end| name.ends_with(end));
                let kept_as = match (is_single, is_wide) {
                    (true, _) => KeptAs::Single,
                    (false, true) => KeptAs::SingleForF16,
                    (false, false) => KeptAs::Model,
                };
                KeptTensor::new(name, stored, kept_as)
            })
            .collect();
        let tables: Vec<KeptTensor> = kept
            .iter()
            .filter(|(name, _)| TABLES.iter().any(|end| name.ends_with(end)))
            .map(|(name, table)| KeptTensor::new(name, table, KeptAs::Model))
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

    /// The elements of the largest matrix that is turned on a GPU, where it has a copy meanwhile.
    pub(crate) fn largest_turned(&self) -> u64 {
        let turned = self.kept.iter().filter(|tensor| tensor.turned);
        turned
            .map(|tensor| tensor.rows.saturating_mul(tensor.columns))
            .max()
            .unwrap_or(0)
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
    fn new(name: &str, stored: &StoredTensor, kept_as: KeptAs) -> Self {
        let elements = stored.elements();
        let (columns, turned) = match stored.shape.as_slice() {
            // All matrices of a layer's experts are one tensor without gaps.
            _ if name.contains("experts.") => (elements, false),
            [_, width] if is_table(name) || is_as_saved(name) => (*width, false),
            [_, _] if elements >= LARGE => (elements, true),
            // A GPU has the matrices of `nn.Linear` as [in, out].
            [out, _] => (*out, false),
            // As `testgen-gpu` puts tensors: only rows of matrices are aligned.
            _ => (elements, false),
        };
        Self {
            rows: elements / columns.max(1),
            columns,
            turned,
            kept_as,
        }
    }

    fn bytes(&self, element: ElementType, backend: Backend) -> u64 {
        let size = match (self.kept_as, element) {
            (KeptAs::Single, _) | (KeptAs::SingleForF16, ElementType::F16) => ElementType::F32,
            (KeptAs::SingleForF16 | KeptAs::Model, _) => element,
        };
        let size = size.bytes();
        let row = match backend {
            Backend::Gpu if self.rows > 1 => gpu_layout::pitch(self.columns, size),
            Backend::Gpu | Backend::Host => self.columns.saturating_mul(size),
        };
        self.rows.saturating_mul(row)
    }
}

/// Whether a matrix has a row for each token or position.
fn is_table(name: &str) -> bool {
    let ends = EMBEDDINGS.iter().chain(&["wpe.weight"]);
    name.contains("embed") || ends.into_iter().any(|end| name.ends_with(end))
}

/// Whether a matrix is one of transformers' `Conv1D`, which are [in, out] in the file.
fn is_as_saved(name: &str) -> bool {
    ["c_attn.weight", "c_fc.weight", "c_proj.weight"]
        .iter()
        .any(|end| name.ends_with(end))
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
    use super::{CheckpointSize, KeptAs, KeptTensor};
    use crate::{
        checkpoint::StoredTensor,
        tensor::{Backend, ElementType},
    };

    fn stored(shape: &[u64]) -> StoredTensor {
        StoredTensor {
            dtype: "F32".to_owned(),
            shape: shape.to_vec(),
        }
    }

    fn bytes(name: &str, shape: &[u64], element: ElementType) -> u64 {
        KeptTensor::new(name, &stored(shape), KeptAs::Model).bytes(element, Backend::Gpu)
    }

    /// The cases of the test in `put.rs` of `testgen-gpu`, whose rule is the same.
    #[test]
    fn only_the_rows_of_matrices_are_aligned() {
        use ElementType::{F16, F32};
        let put = |shape, element| bytes("embed.weight", shape, element);
        assert_eq!(put(&[768, 768], F32), 768 * 768 * 4);
        assert_eq!(put(&[768, 1001], F16), 768 * 2048);
        assert_eq!(put(&[64, 3], F16), 64 * 16);
        for element in [F32, F16] {
            assert_eq!(put(&[64, 32, 3, 3], element), 64 * 32 * 9 * element.bytes());
        }
        assert_eq!(put(&[384, 3, 14, 14], F16), 384 * 3 * 196 * 2);
        assert_eq!(put(&[1, 197, 192], F32), 197 * 192 * 4);
    }

    #[test]
    fn some_tensors_are_kept_in_f32() {
        let bytes = |name: &str, t5| {
            let tensors = [(name.to_owned(), stored(&[10]))].into();
            let size = CheckpointSize::new(tensors, false, [t5, false]);
            [ElementType::F16, ElementType::Bf16].map(|element| size.bytes(element, Backend::Host))
        };
        assert_eq!(bytes("layers.0.mixer.D", false), [40, 40]);
        assert_eq!(bytes("block.0.layer_norm.weight", true), [40, 20]);
        assert_eq!(bytes("block.0.layer_norm.weight", false), [20, 20]);
    }

    #[test]
    fn matrices_are_in_out_on_a_gpu_and_large_ones_have_no_gaps() {
        let linear = |shape| bytes("fc1.weight", shape, ElementType::F16);
        assert_eq!(linear(&[1001, 768]), 768 * 2048);
        assert_eq!(linear(&[1001, 2048]), 1001 * 2048 * 2);
        // In the file as on the GPU.
        let saved = bytes("mlp.c_fc.weight", &[768, 1001], ElementType::F16);
        assert_eq!(saved, 768 * 2048);
        let named = |name: &str, shape: &[u64]| (name.to_owned(), stored(shape));
        let tensors = [
            named("embed_tokens.weight", &[9000, 2048]),
            named("fc1.weight", &[1001, 2048]),
            named("fc2.weight", &[100, 2048]),
        ];
        let size = CheckpointSize::new(tensors.into(), false, [false; 2]);
        assert_eq!(size.largest_turned(), 1001 * 2048);
    }
}
