//! Reports of recorders while they run.

use crate::reference::python_program::PythonError;
use std::path::PathBuf;

/// A message of a recorder about the target of this index.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) target: usize,
    pub(super) content: Content,
}

/// The content of a message.
#[derive(Debug)]
pub(super) enum Content {
    /// `done` of `of` parts of a step are complete.
    Step { step: String, done: u64, of: u64 },
    /// A line of its standard error.
    Message(String),
    /// It has ended.
    Ended(Result<PathBuf, PythonError>),
}

impl Content {
    /// The step in which weights are computed, before the recorder starts.
    pub(super) fn weights() -> Self {
        Self::Step {
            step: "weights".to_owned(),
            done: 0,
            of: 0,
        }
    }
}
