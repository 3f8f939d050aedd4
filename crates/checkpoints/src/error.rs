//! Why a synthetic checkpoint cannot be made.

use std::{
    io,
    path::{Path, PathBuf},
};
use testgen_types::{QuantizationScheme, bounded_file::FileError, excerpt};

/// A synthetic checkpoint cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// A recorded file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The recipe is damaged.
    #[error("`{}` is not the recipe of a checkpoint: {reason}; record it again", path.display())]
    NotARecipe {
        /// The recipe.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// A scheme does not divide a layer.
    #[error("`{scheme}` cannot quantize `{}`: {reason}", excerpt(layer))]
    Layer {
        /// The scheme of the recipe.
        scheme: QuantizationScheme,
        /// The layer; `*` is the place of its number.
        layer: String,
        /// The size, and the number that it should be a multiple of.
        reason: String,
    },
    /// More tensors than any model has.
    #[error("the synthetic checkpoint has {count} tensors, more than {limit}")]
    TooMany {
        /// Tensors of the recipe.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// More bytes than the limit.
    #[error("the synthetic checkpoint has {} GB, more than {} GB", bytes / 1_000_000_000, limit / 1_000_000_000)]
    TooLarge {
        /// Bytes of the weights.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A quantized tensor has not the parts, sizes or types of its method.
    #[error("`{tensor}` in `{}` cannot be dequantized: {reason}", path.display())]
    Quantized {
        /// The checkpoint, or one file of it.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// The part, size or type that is missing or wrong.
        reason: String,
    },
    /// There is no directory for it.
    #[error(
        "there is no cache for synthetic checkpoints: none of TESTGEN_CACHE, XDG_CACHE_HOME and HOME is set; set TESTGEN_CACHE to a directory"
    )]
    NoCache,
    /// The disk is full, or the directory is not writable.
    #[error("cannot write {} MB of weights to `{}`: {source}; free space, or set TESTGEN_CACHE to a directory on another disk", bytes / 1_000_000, path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The system's error.
        source: io::Error,
    },
    /// Another file of the cache cannot be written.
    #[error("cannot write the synthetic checkpoint `{}`: {source}", path.display())]
    Cache {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl SyntheticError {
    /// A tensor, or another part, of a quantized checkpoint that cannot be used; name and reason
    /// may repeat what a file has.
    pub(crate) fn quantized(path: &Path, tensor: &str, reason: &str) -> Self {
        Self::Quantized {
            path: path.to_owned(),
            tensor: excerpt(tensor).into_owned(),
            reason: excerpt(reason).into_owned(),
        }
    }
}
