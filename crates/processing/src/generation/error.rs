//! Errors of a generation: of what was asked for, and of what the model returned.

use testgen_nn::forward::ForwardError;

/// Why nothing could be generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerationError {
    /// A control has a value that means nothing.
    #[error("`{name}` {problem}")]
    Control {
        /// The control.
        name: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// The checkpoint asks for something that changes tokens and is not there.
    #[error("the checkpoint's generation config sets `{field}`, which is not supported; take it out")]
    Unsupported {
        /// The field of `generation_config.json`.
        field: String,
    },
    /// The prompt cannot be continued.
    #[error("the prompt {problem}")]
    Prompt {
        /// What is wrong with it.
        problem: String,
    },
    /// The model gave logits that no token can be chosen from.
    #[error("row {row}: the logits of new token {step} hold NaN or infinity")]
    NotFinite {
        /// The row of the batch.
        row: usize,
        /// The number of the new token, from 0.
        step: usize,
    },
    /// The model's class has no logits per token.
    #[error("the model has no `logits` of shape [batch, seq, vocabulary]; use a class such as `LlamaForCausalLM`")]
    NoLogits,
    /// The model failed.
    #[error(transparent)]
    Forward(#[from] ForwardError),
}
