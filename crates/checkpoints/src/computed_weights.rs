//! Weights that no file has as a model reads them: which they are, and the files beside them.

use crate::{
    error::SyntheticError,
    quantized::{QuantizedWeights, config_of, with_quantization, without_quantization},
    quantized_file,
    recipe::{FILE, Recipe},
    weights_file,
};
use sha2::{Digest, Sha256};
use std::path::Path;
use testgen_types::{
    QuantizationScheme, QuantizedCheckpoint,
    bounded_file::{limit, read_bytes},
};

const GOLDEN: &str = "golden.safetensors";
const CONFIG: &str = "config.json";

/// Weights that no file has as a model reads them.
pub(crate) enum ComputedWeights {
    /// From a seed.
    Synthetic {
        /// The tensors.
        recipe: Recipe,
        /// The digest of the recipe.
        identity: String,
    },
    /// From quantized ones.
    Quantized(Box<QuantizedWeights>),
}

impl ComputedWeights {
    /// The weights of the checkpoint in `directory`, or `None` if its own files have them, or if a
    /// load has to refuse it.
    pub(crate) fn find(directory: &Path) -> Result<Option<Self>, SyntheticError> {
        // A recipe first: its directory has no weights that could be quantized.
        if directory.join(FILE).is_file() {
            return Self::of_recipe(directory).map(Some);
        }
        let quantized = QuantizedWeights::open(directory, &config_of(directory))?;
        Ok(quantized.map(|weights| Self::Quantized(Box::new(weights))))
    }

    /// The weights of a checkpoint that the scheme of a recipe has quantized.
    pub(crate) fn read(directory: &Path) -> Result<Self, SyntheticError> {
        let quantized = QuantizedWeights::open(directory, &config_of(directory))?;
        let weights = quantized.map(|weights| Self::Quantized(Box::new(weights)));
        weights.ok_or_else(|| {
            let reason = "the configuration of the recipe is not one of quantized weights";
            SyntheticError::quantized(directory, CONFIG, reason)
        })
    }

    /// How the weights of a recipe are quantized before a model reads them.
    pub(crate) fn scheme(&self) -> Option<QuantizationScheme> {
        match self {
            Self::Synthetic { recipe, .. } => recipe.quantise,
            Self::Quantized(_) => None,
        }
    }

    pub(crate) fn of_recipe(directory: &Path) -> Result<Self, SyntheticError> {
        let content = read_bytes(&directory.join(FILE), limit::CONFIG)?;
        Ok(Self::Synthetic {
            recipe: Recipe::read(directory)?,
            identity: hex(&Sha256::digest(content)),
        })
    }

    /// Equal for equal weights, without computing them.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Synthetic { identity, .. } => identity.clone(),
            Self::Quantized(weights) => weights.identity(),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), SyntheticError> {
        match self {
            Self::Synthetic { recipe, .. } => match recipe.quantise {
                None => weights_file::write(recipe, path),
                Some(scheme) => quantized_file::write(recipe, scheme, path),
            },
            Self::Quantized(weights) => weights_file::write_dequantized(weights, path),
        }
    }

    /// `config.json` beside these weights.
    pub(crate) fn config(&self, recorded: Vec<u8>) -> Vec<u8> {
        match (self, self.scheme()) {
            (Self::Quantized(_), _) => without_quantization(&recorded),
            (Self::Synthetic { .. }, Some(scheme)) => with_quantization(&recorded, scheme),
            (Self::Synthetic { .. }, None) => recorded,
        }
    }

    /// Whether a checkpoint with these weights has the file `name` of the recorded ones.
    pub(crate) fn keeps(&self, name: &str) -> bool {
        match self {
            Self::Quantized(_) => {
                let is_quantized = QuantizedCheckpoint::is_options_file(name)
                    || name.ends_with(".safetensors.index.json")
                    // The golden has the suffix, too, but holds no weights.
                    || name.ends_with(".safetensors") && name != GOLDEN;
                !is_quantized
            }
            // A quantized checkpoint has its weights, and no recipe that makes others.
            Self::Synthetic { recipe, .. } => recipe.quantise.is_none() || name != FILE,
        }
    }
}

/// A digest as text.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
