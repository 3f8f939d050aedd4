//! Why a recorded answer cannot be used.

use crate::golden::GoldenError;
use std::path::PathBuf;
use testgen_types::Task;

/// Why a recorded answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    /// The checkpoint has no recorded answers.
    #[error("`{}` does not exist; record it with `testgen record --answers`", path.display())]
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
    /// The file is not what the recorder writes.
    #[error("`{}` is invalid: {source}; record it again with `testgen record --answers`", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: serde_json::Error,
    },
    /// The recorded noise is not one pair of numbers for each name.
    #[error("`noise` in `{}` is invalid: {why}", path.display())]
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
