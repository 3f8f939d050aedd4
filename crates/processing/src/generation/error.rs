//! Errors of a generation: invalid settings, and unusable outputs of the model.

use testgen_nn::forward::ForwardError;

/// Nothing could be generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// A control has an invalid value.
    #[error("`{name}` {problem}")]
    Control {
        /// The control.
        name: &'static str,
        /// The problem of its value.
        problem: String,
    },
    /// The checkpoint requests a feature that changes tokens and is not implemented.
    #[error(
        "the checkpoint's generation config sets `{field}`, which is not supported; take it out"
    )]
    Unsupported {
        /// The field of `generation_config.json`.
        field: String,
    },
    /// The prompt cannot be continued.
    #[error("the prompt {problem}")]
    Prompt {
        /// The problem.
        problem: String,
    },
    /// No token can be chosen from the model's logits.
    #[error("row {row}: the logits of new token {step} hold NaN or infinity")]
    NotFinite {
        /// The row of the batch.
        row: usize,
        /// The number of the new token, from 0.
        step: usize,
    },
    /// The model's class has no logits per token.
    #[error(
        "the model has no `logits` of shape [batch, seq, vocabulary]; use a class such as `LlamaForCausalLM`"
    )]
    NoLogits,
    /// The model failed.
    #[error(transparent)]
    Forward(#[from] ForwardError),
}
