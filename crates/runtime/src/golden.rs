//! The recorded inputs and outputs of transformers: the contents of `golden.safetensors`.
//!
//! Owns the names and the metadata of the golden format, not how checks use them. Only `input.*`,
//! `output.*` and `model_class` are required; all other parts are optional.

mod assembly;
mod contents;
mod drawn;
mod error;
#[cfg(test)]
mod fuzz;
mod noise;
mod parts;
mod recorded_tensor;
mod summary;
mod tensors;
mod trace;
mod validate;

pub(crate) use contents::{Golden, RecordedCase, Router};
pub(crate) use error::GoldenError;
pub(crate) use noise::{Noise, NoiseLevel};
pub(crate) use recorded_tensor::RecordedTensor;
pub(crate) use tensors::read_file;

use safetensors::SafeTensors;
use std::path::Path;
use testgen_types::bounded_file::{limit, read_bytes};

/// The golden's file name in a checkpoint directory.
pub(crate) const FILE: &str = "golden.safetensors";

impl Golden {
    /// Reads the golden of the checkpoint in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, GoldenError> {
        let path = directory.join(FILE);
        let bytes = read_bytes(&path, limit::GOLDEN).map_err(|error| match error.is_missing() {
            true => GoldenError::Missing { path: path.clone() },
            false => GoldenError::Read(error),
        })?;
        let format = |error| tensors::damaged(&path, &bytes, &error);
        // Read twice: `SafeTensors` does not expose the metadata.
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(format)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let arrays = tensors::read(&SafeTensors::deserialize(&bytes).map_err(format)?)
            .map_err(|unreadable| unreadable.in_file(&path))?;
        assembly::assemble(&path, arrays, &metadata)
    }
}

#[cfg(test)]
mod tests;
