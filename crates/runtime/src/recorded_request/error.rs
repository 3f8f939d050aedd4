//! Why a recorded request has not what a harness asks it for.

use std::fmt::Display;

/// Why a recorded request has not what a harness asks it for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was recorded for another modality.
    #[error(
        "the recorded request has no `{part}`; record it again with `testgen record --answers`"
    )]
    NotRecorded {
        /// The field of `request` in `answers.json`.
        part: &'static str,
    },
    /// The golden lacks a tensor that the request names.
    #[error(
        "`{part}` of the recorded request names the tensor `{tensor}`, which the golden does not have"
    )]
    NoTensor {
        /// The field of `request` in `answers.json`.
        part: &'static str,
        /// The tensor's name in `golden.safetensors`.
        tensor: String,
    },
    /// The golden's tensor cannot be the input.
    #[error("`{tensor}`, of `{part}` of the recorded request, {problem}")]
    Unusable {
        /// The field of `request` in `answers.json`.
        part: &'static str,
        /// The tensor's name in `golden.safetensors`.
        tensor: String,
        /// The problem.
        problem: String,
    },
}

impl RequestError {
    pub(super) fn unusable(part: &'static str, tensor: &str, problem: &dyn Display) -> Self {
        Self::Unusable {
            part,
            tensor: tensor.to_owned(),
            problem: problem.to_string(),
        }
    }
}
