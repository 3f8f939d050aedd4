//! Errors of golden files: absent, damaged, or without a required part.

use std::path::{Path, PathBuf};

/// Why a golden cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoldenError {
    /// The checkpoint has no golden.
    #[error("`{}` does not exist; record it with `testgen record`", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not safetensors.
    #[error("`{}` is not a safetensors file: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: safetensors::SafeTensorError,
    },
    /// A required part is missing.
    #[error("`{}` has no {part}", path.display())]
    Lacks {
        /// The file.
        path: PathBuf,
        /// The tensor or metadata that is required.
        part: String,
    },
    /// A part cannot be read.
    #[error("`{part}` of `{}` cannot be read: {why}", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// The tensor or metadata.
        part: String,
        /// The problem.
        why: String,
    },
}

/// A tensor or a metadata entry that cannot be read.
pub(super) struct Unreadable {
    pub(super) part: String,
    pub(super) why: String,
}

impl Unreadable {
    pub(super) fn in_file(self, path: &Path) -> GoldenError {
        GoldenError::Part { path: path.to_owned(), part: self.part, why: self.why }
    }
}
