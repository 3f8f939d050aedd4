//! Errors of golden files: absent, damaged, or without a required part.

use std::path::{Path, PathBuf};
use testgen_types::{bounded_file::FileError, excerpt};

/// Why a golden cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GoldenError {
    /// The checkpoint has no golden.
    #[error("`{}` does not exist; record it with `testgen record`", path.display())]
    Missing {
        /// The path at which it should be.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The file is not safetensors.
    #[error("the golden `{}` is damaged: {fault}; record it again with `testgen record`", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The problem, with the tensor that has it.
        fault: String,
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
    #[error("`{}` of `{}` cannot be read: {}", excerpt(part), path.display(), excerpt(why))]
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
        GoldenError::Part {
            path: path.to_owned(),
            part: self.part,
            why: self.why,
        }
    }
}
