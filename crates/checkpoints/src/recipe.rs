//! `synthetic.json`: the seed and the tensors of a synthetic checkpoint.

use crate::{error::SyntheticError, float_type::FloatType, quantized::QuantizedShape};
use serde::Deserialize;
use std::path::Path;
use testgen_types::{
    QuantizationScheme,
    bounded_file::{limit, read_bytes},
};

/// The file with the recipe. A directory that has it gets its weights from [`crate::checkpoint`].
pub const FILE: &str = "synthetic.json";

/// The largest weights, in bytes.
// A model of 70 billion parameters in 16 bits fits.
const MOST_BYTES: u64 = 192 << 30;
/// The most tensors.
// A mixture with 90,000 is the largest public one.
const MOST_TENSORS: u64 = 1 << 18;

/// The recipe of the weights of a checkpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The seed of the weights.
    pub seed: u64,
    /// The scheme that quantizes the marked tensors. Without a scheme they are dense.
    #[serde(default)]
    pub quantise: Option<QuantizationScheme>,
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
    /// Whether the scheme of the recipe quantizes it.
    #[serde(default)]
    quantise: bool,
}

/// One tensor.
#[derive(Debug, Clone)]
pub(crate) struct SyntheticTensor {
    pub(crate) name: String,
    pub(crate) dtype: FloatType,
    pub(crate) shape: Vec<u64>,
    pub(crate) mean: f32,
    pub(crate) std: f32,
    pub(crate) quantise: bool,
}

impl Recipe {
    /// The recipe in `directory`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is not a recipe, or has a layer that its scheme does not
    /// divide.
    pub fn read(directory: &Path) -> Result<Self, SyntheticError> {
        let path = directory.join(FILE);
        let bytes = read_bytes(&path, limit::CONFIG)?;
        let damaged = |reason| SyntheticError::NotARecipe { path, reason };
        let recipe: Self = match serde_json::from_slice(&bytes) {
            Ok(recipe) => recipe,
            Err(error) => return Err(damaged(error.to_string())),
        };
        let has_layers = recipe.tensors.iter().any(|group| group.quantise);
        // A scheme without layers would change nothing, and marked layers without a scheme would be
        // dense: either is not what was recorded.
        if has_layers != recipe.quantise.is_some() {
            return Err(damaged(
                "a scheme and the layers that it quantizes belong together".to_owned(),
            ));
        }
        recipe.check_layers()?;
        Ok(recipe)
    }

    fn check_layers(&self) -> Result<(), SyntheticError> {
        let Some(scheme) = self.quantise else {
            return Ok(());
        };
        let mut layers = self.tensors.iter().filter(|group| group.quantise);
        layers.try_for_each(|group| {
            let shape = QuantizedShape::new(scheme, group.dtype, &group.shape);
            shape.map(drop).map_err(|reason| SyntheticError::Layer {
                scheme,
                layer: group.name.trim_end_matches(".weight").to_owned(),
                reason,
            })
        })
    }

    /// All tensors, those with the widest values first.
    pub(crate) fn tensors(&self) -> Result<Vec<SyntheticTensor>, SyntheticError> {
        let count = self.tensors.iter().map(|group| group.count.unwrap_or(1));
        // Saturated, so that a sum that overflows is above the limit.
        let count = count.fold(0, u64::saturating_add);
        if count > MOST_TENSORS {
            return Err(SyntheticError::TooMany {
                count,
                limit: MOST_TENSORS,
            });
        }
        let mut tensors: Vec<SyntheticTensor> =
            self.tensors.iter().flat_map(TensorGroup::expand).collect();
        // So that each starts at a multiple of its width.
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
            quantise: self.quantise,
        })
    }
}

impl SyntheticTensor {
    /// The number of values.
    pub(crate) fn count(&self) -> u64 {
        // Saturated, because the limit of bytes refuses the number.
        self.shape.iter().copied().fold(1, u64::saturating_mul)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.dtype.size())
    }
}
