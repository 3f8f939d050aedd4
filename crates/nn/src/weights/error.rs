//! Errors of checkpoint files: absent, damaged, or with other tensors than the configuration implies.

use std::path::PathBuf;

/// Why the tensors of a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A file is not there or not readable.
    #[error("cannot read `{path}`: {message}")]
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
    #[error("tensor `{name}` {expected:?} is missing from the checkpoint")]
    Missing {
        /// The name that was asked for.
        name: String,
        /// The shape that the configuration says.
        expected: Vec<usize>,
    },
    /// A tensor has another shape than the configuration says.
    #[error("tensor `{name}` is {found:?}, the configuration says {expected:?}")]
    WrongShape {
        /// The tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// The shape that the configuration says.
        expected: Vec<usize>,
    },
    /// A tensor has a type that weights cannot have.
    #[error("tensor `{name}` has the type {found}; supported: F64, F32, F16, BF16")]
    WrongType {
        /// The tensor.
        name: String,
        /// Its type in the file.
        found: String,
    },
}
