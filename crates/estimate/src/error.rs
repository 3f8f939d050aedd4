//! Why there is no estimate.

use std::path::PathBuf;
use testgen_types::{ModelType, QuantizedCheckpoint, bounded_file::FileError};

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// A file of the checkpoint cannot be read.
    #[error("cannot read `{}`: {}", .0.path.display(), .0.problem)]
    File(FileError),
    /// A file of the checkpoint is not what its name says.
    #[error("`{}` {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem, as the end of a sentence about the file.
        problem: String,
    },
    /// The directory has no safetensors file and no index of such files.
    #[error("`{}` has no model.safetensors, no diffusion_pytorch_model.safetensors and no index of one", directory.display())]
    NoWeights {
        /// The directory.
        directory: PathBuf,
    },
    /// The weights are quantized.
    #[error("the memory cannot be estimated: {0}")]
    Quantized(QuantizedCheckpoint),
    /// `config.json` names no known type.
    #[error("unknown model type `{0}`")]
    UnknownType(String),
    /// The type has no estimate.
    #[error("the memory of model type `{0}` cannot be estimated")]
    NoEstimate(ModelType),
    /// The class has no estimate.
    #[error("the memory of class `{0}` cannot be estimated")]
    NoClass(String),
    /// A field of the configuration is missing, of another type, or out of range.
    #[error("`{field}` in config.json is {found}, expected {expected}")]
    Field {
        /// The field.
        field: String,
        /// Its value.
        found: String,
        /// A value that can be used.
        expected: &'static str,
    },
    /// More tokens than the model has positions for.
    #[error("{tokens} tokens are more than the {limit} positions of the model")]
    TooLong {
        /// The number asked for.
        tokens: u64,
        /// The number of positions.
        limit: u64,
    },
    /// The type reads images of the size in its configuration, or none.
    #[error("model type `{0}` does not read images of any size")]
    OneImageSize(ModelType),
    /// Images with a side that is not estimated.
    #[error("images of {} x {} are not estimated for this type, only sides from 1 to {limit}", image[0], image[1])]
    ImageSide {
        /// Height and width.
        image: [u64; 2],
        /// The longest side.
        limit: u64,
    },
    /// So many tokens of a type without positions that following them takes too long.
    #[error("the memory of {tokens} tokens is not estimated for this type, at most of {limit}")]
    TooManyTokens {
        /// The number asked for.
        tokens: u64,
        /// The most that are estimated.
        limit: u64,
    },
}

impl From<FileError> for EstimateError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
