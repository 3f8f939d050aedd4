//! `synthetic.json`: the seed and the tensors of a synthetic checkpoint.

use crate::error::SyntheticError;
use serde::Deserialize;
use std::path::Path;
use testgen_types::bounded_file::{limit, read_bytes};

/// The file with the recipe. A directory that has it gets its weights from [`crate::checkpoint`].
pub const FILE: &str = "synthetic.json";

/// The largest weights, in bytes: a model of 70 billion parameters in 16 bits fits.
const MOST_BYTES: u64 = 192 << 30;
/// The most tensors; a mixture with 90,000 is the largest public one.
const MOST_TENSORS: u64 = 1 << 18;

/// The recipe of the weights of a checkpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The seed of the weights.
    pub seed: u64,
    tensors: Vec<TensorGroup>,
}

/// Tensors that are the same but for a number in their names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorGroup {
    /// The name; with a count, `*` is the place of the number.
    name: String,
    /// The number of tensors, whose names have 0, 1, ... in place of `*`.
    #[serde(default)]
    count: Option<u64>,
    dtype: FloatType,
    shape: Vec<u64>,
    mean: f32,
    std: f32,
}

/// The type of a tensor, as safetensors names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum FloatType {
    F32,
    F16,
    Bf16,
}

/// One tensor.
#[derive(Debug, Clone)]
pub(crate) struct SyntheticTensor {
    pub(crate) name: String,
    pub(crate) dtype: FloatType,
    pub(crate) shape: Vec<u64>,
    pub(crate) mean: f32,
    pub(crate) std: f32,
}

impl Recipe {
    /// The recipe in `directory`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not a recipe.
    pub fn read(directory: &Path) -> Result<Self, SyntheticError> {
        let path = directory.join(FILE);
        let bytes = read_bytes(&path, limit::CONFIG)?;
        serde_json::from_slice(&bytes).map_err(|error| SyntheticError::NotARecipe {
            path,
            reason: error.to_string(),
        })
    }

    /// All tensors, those with the widest values first, so that each starts at a multiple of its
    /// width.
    pub(crate) fn tensors(&self) -> Result<Vec<SyntheticTensor>, SyntheticError> {
        let count = self.tensors.iter().map(|group| group.count.unwrap_or(1));
        let count = count.fold(0, u64::saturating_add);
        if count > MOST_TENSORS {
            return Err(SyntheticError::TooMany {
                count,
                limit: MOST_TENSORS,
            });
        }
        let mut tensors: Vec<SyntheticTensor> =
            self.tensors.iter().flat_map(TensorGroup::expand).collect();
        tensors.sort_by_key(|tensor| std::cmp::Reverse(tensor.dtype.size()));
        let bytes = tensors.iter().map(SyntheticTensor::bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        if bytes > MOST_BYTES {
            return Err(SyntheticError::TooLarge {
                bytes,
                limit: MOST_BYTES,
            });
        }
        Ok(tensors)
    }
}

impl TensorGroup {
    fn expand(&self) -> impl Iterator<Item = SyntheticTensor> + '_ {
        (0..self.count.unwrap_or(1)).map(|number| SyntheticTensor {
            name: match self.count {
                Some(_) => self.name.replacen('*', &number.to_string(), 1),
                None => self.name.clone(),
            },
            dtype: self.dtype,
            shape: self.shape.clone(),
            mean: self.mean,
            std: self.std,
        })
    }
}

impl FloatType {
    /// Bytes of a value.
    pub(crate) const fn size(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// As safetensors names it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
        }
    }
}

impl SyntheticTensor {
    /// The number of values; saturated, which the limit of bytes refuses.
    pub(crate) fn count(&self) -> u64 {
        self.shape.iter().copied().fold(1, u64::saturating_mul)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.dtype.size())
    }
}
