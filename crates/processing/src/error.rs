//! Errors of input processing.

use crate::size::Size;
use std::path::PathBuf;
use testgen_types::{bounded_file::FileError, excerpt};

/// Why inputs could not be turned into tensors.
#[derive(Debug, thiserror::Error)]
pub enum PreprocessError {
    /// A file is there and cannot be read.
    #[error("cannot read `{}`: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The message of the system or the parser.
        message: String,
    },
    /// A file lacks a field or has one with a value that is not usable.
    #[error("`{}`: field `{}` {}; {hint}", path.display(), excerpt(field), excerpt(problem))]
    Field {
        /// The file.
        path: PathBuf,
        /// The field's name.
        field: String,
        /// The problem.
        problem: String,
        /// How to fix it.
        hint: String,
    },
    /// A text has no ids.
    #[error("the tokenizer failed: {}", excerpt(message))]
    Tokenizer {
        /// The message of the `tokenizers` crate.
        message: String,
    },
    /// Texts of different lengths need a pad token and there is none.
    #[error(
        "texts of different lengths need padding and the tokenizer has no pad, end or unknown token; give one text at a time"
    )]
    NoPadToken,
    /// An image cannot be used.
    #[error("an image cannot be used: {problem}")]
    Image {
        /// The problem.
        problem: String,
    },
    /// A recording cannot be used.
    #[error("recording {index} {problem}")]
    Audio {
        /// The position of the recording in the call.
        index: usize,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// A graph cannot be used.
    #[error("graph {index} {problem}")]
    Graph {
        /// The position of the graph in the call.
        index: usize,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// The images of a batch have different sizes after resizing.
    #[error(
        "image {index} becomes {found} (height x width), the first one {first}; give images of different shapes one at a time"
    )]
    UnequalImages {
        /// The position of the image in the call.
        index: usize,
        /// Its size after resizing and cropping.
        found: Size,
        /// The size of the first image.
        first: Size,
    },
}

impl From<FileError> for PreprocessError {
    fn from(error: FileError) -> Self {
        Self::Unreadable {
            path: error.path,
            message: error.problem.to_string(),
        }
    }
}
