//! Errors of checkpoint files: absent, damaged, or with other tensors than the configuration
//! implies.

use std::path::PathBuf;
use testgen_types::{bounded_file::FileError, excerpt};

/// Why the tensors of a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A file is not there or not readable.
    #[error("cannot read `{}`: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the system or the parser.
        message: String,
    },
    /// The directory has neither a single file nor an index.
    #[error(
        "`{directory}` has neither model.safetensors nor model.safetensors.index.json; \
         save it with `save_pretrained(..., safe_serialization=True)`"
    )]
    NoFile {
        /// The checkpoint directory.
        directory: PathBuf,
    },
    /// The model needs a tensor that no file has.
    #[error(
        "tensor `{}` {expected:?} is missing from the checkpoint",
        excerpt(name)
    )]
    Missing {
        /// The name that was asked for.
        name: String,
        /// The shape that the configuration says.
        expected: Vec<usize>,
    },
    /// A tensor has another shape than the configuration says.
    #[error("tensor `{}` is {}, the configuration says {expected:?}", excerpt(name), excerpt(&format!("{found:?}")))]
    WrongShape {
        /// The tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration says.
        expected: Vec<usize>,
    },
    /// The configuration ties a tensor to another one, and the file has both with different values.
    /// transformers 5 uses both then, and transformers 4 only one of them.
    #[error(
        "tensor `{}` differs from the one that the configuration ties it to; \
         set `tie_word_embeddings` to false, or remove the tensor",
        excerpt(name)
    )]
    NotTied {
        /// The tensor.
        name: String,
    },
    /// A tensor has a type that weights cannot have.
    #[error(
        "tensor `{}` has the type {found}; supported: F64, F32, F16, BF16",
        excerpt(name)
    )]
    WrongType {
        /// The tensor.
        name: String,
        /// Its type in the file.
        found: String,
    },
}

impl WeightsError {
    pub(super) fn of_file(error: FileError) -> Self {
        // Not `From`: with a second conversion, closures that return a `Result` would need a type.
        Self::Unreadable {
            path: error.path,
            message: error.problem.to_string(),
        }
    }
}
