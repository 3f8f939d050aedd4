//! The recorded inputs and outputs of transformers: the contents of `golden.safetensors`.
//!
//! Owns the names and the metadata of the golden format, not how checks use them. Only `input.*`, `output.*` and
//! `model_class` are required; all other parts are optional.

mod contents;
mod error;
mod noise;
mod parts;
mod tensors;
mod trace;

pub(crate) use contents::{Case, Golden, Router};
pub(crate) use error::GoldenError;
pub(crate) use noise::{Noise, NoiseLevel};
pub(crate) use tensors::read_file;

use safetensors::SafeTensors;
use std::path::Path;

/// The golden's file name in a checkpoint directory.
pub(crate) const FILE: &str = "golden.safetensors";

impl Golden {
    /// Reads the golden of the checkpoint in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, GoldenError> {
        let path = directory.join(FILE);
        let bytes = std::fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => GoldenError::Missing { path: path.clone() },
            _ => GoldenError::Read { path: path.clone(), source },
        })?;
        let format = |source| GoldenError::Format { path: path.clone(), source };
        // Read twice: `SafeTensors` does not expose the metadata.
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(format)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let arrays = tensors::read(&SafeTensors::deserialize(&bytes).map_err(format)?)
            .map_err(|unreadable| unreadable.in_file(&path))?;
        parts::assemble(&path, arrays, &metadata)
    }
}

#[cfg(test)]
mod tests;
