//! One handler per task: the modality's real input in, a typed result out.
//!
//! Owns requests, responses and what lies between the processor and the model's outputs. Does not own queues, devices or
//! status: those are the endpoint's.

mod request;
mod response;

pub use request::{QuestionContext, Request};
pub use response::{
    Answer, FilledMask, GeneratedText, ImageEmbedding, LabelScore, LabelledToken, Response, TextEmbedding,
};

use crate::{ForwardError, Model, preprocess::PreprocessError};
use testgen_contract::Task;

/// Answers one request with a model.
pub type Handler = fn(&Model, Request) -> Result<Response, HandlerError>;

/// Why a handler gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// The request is not of the kind that the task takes.
    #[error("`{task}` takes {expected}, not {found}")]
    WrongRequest {
        /// The handler's task.
        task: Task,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// The request holds nothing.
    #[error("the request is empty; `{task}` takes {expected}")]
    EmptyRequest {
        /// The handler's task.
        task: Task,
        /// What it takes.
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
    #[error("`{class}` has no output `{output}` of the kind that `{task}` reads; use {hint}")]
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
    /// The request's content does not suit the task.
    #[error("{problem}")]
    BadInput {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The input could not be turned into tensors.
    #[error(transparent)]
    Preprocess(#[from] PreprocessError),
    /// The model failed.
    #[error(transparent)]
    Forward(#[from] ForwardError),
}

macro_rules! unfinished {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $($(#[$doc])* pub fn $name(model: &Model, request: Request) -> Result<Response, HandlerError> {
            let _ = (model, request);
            unimplemented!()
        })+
    };
}

unfinished! {
    /// Texts in, one vector per token and pooled vectors per text out.
    text_embedding,
    /// Texts with mask tokens in, the five likeliest tokens for each out.
    fill_mask,
    /// Texts in, one score per label out.
    text_classification,
    /// Texts in, the labels of every token out.
    token_classification,
    /// Questions with contexts in, the best span of each context out.
    question_answering,
    /// Prompts in, their continuations out.
    text_generation,
    /// Images in, one score per label out.
    image_classification,
    /// Images in, one vector per patch and one per image out.
    image_embedding,
}
