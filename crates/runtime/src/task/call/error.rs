//! Errors of handlers.

use testgen_nn::forward::ForwardError;
use testgen_processing::{error::PreprocessError, generation::GenerationError};
use testgen_types::Task;

/// A handler cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The request is not of the kind that the task takes.
    #[error("`{task}` takes {expected}, not {found}")]
    WrongRequest {
        /// The handler's task.
        task: Task,
        /// The expected request.
        expected: &'static str,
        /// The received request.
        found: &'static str,
    },
    /// The request holds nothing.
    #[error("the request is empty; `{task}` takes {expected}")]
    EmptyRequest {
        /// The handler's task.
        task: Task,
        /// The expected input.
        expected: &'static str,
    },
    /// The endpoint has no model, or no operators.
    #[error("`{task}` needs {expected}, which the endpoint does not have")]
    WrongSubject {
        /// The handler's task.
        task: Task,
        /// The content that the task needs.
        expected: &'static str,
    },
    /// The checkpoint lacks the files that the task needs.
    #[error("`{task}` needs {needed}, and the checkpoint has none")]
    NoProcessor {
        /// The handler's task.
        task: Task,
        /// The missing part.
        needed: &'static str,
    },
    /// The model's class does not compute what the task reads.
    #[error("`{class}` has no `{output}` of the shape that `{task}` reads; use {hint}")]
    WrongModel {
        /// The handler's task.
        task: Task,
        /// The transformers class.
        class: String,
        /// The output's name.
        output: &'static str,
        /// The classes that have it.
        hint: &'static str,
    },
    /// An input of the request does not suit the task.
    #[error("input {index} {problem}")]
    BadInput {
        /// The position of the input in the request.
        index: usize,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// An operator was not computed.
    #[error(transparent)]
    Call(#[from] testgen_operators::calls::CallError),
    /// The inputs could not be turned into tensors.
    #[error(transparent)]
    Preprocess(#[from] PreprocessError),
    /// The model failed.
    #[error(transparent)]
    Forward(#[from] ForwardError),
    /// Nothing could be generated.
    #[error(transparent)]
    Generation(#[from] GenerationError),
}
