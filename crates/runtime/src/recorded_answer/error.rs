//! Why a recorded answer cannot be used.

use crate::golden::GoldenError;
use std::path::PathBuf;
use testgen_types::{Task, bounded_file::FileError, excerpt};

/// Why a recorded answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    /// The checkpoint has no recorded answers.
    #[error("`{}` does not exist; record it with `testgen record --answers`", path.display())]
    Missing {
        /// The path at which it should be.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// The file is not what the recorder writes.
    #[error("`{}` is invalid: {}; record it again with `testgen record --answers`", path.display(), excerpt(&source.to_string()))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: serde_json::Error,
    },
    /// The recorded noise is not one pair of numbers for each name.
    #[error("`noise` in `{}` is invalid: {}", path.display(), excerpt(why))]
    Noise {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The file has no answer of the spec's task.
    #[error("`{}` has no answer of `{task}`; record it again with `testgen record --answers`", path.display())]
    NoTask {
        /// The file.
        path: PathBuf,
        /// The task.
        task: Task,
    },
    /// The tensors that the request names cannot be read.
    #[error(transparent)]
    Golden(#[from] GoldenError),
}
