//! Continuing a sequence token by token, over a model's [`Session`](crate::Session).

/// What a caller may ask of a generation; none takes the checkpoint's `generation_config.json`, then transformers' default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GenerationControls {
    /// The most tokens to add.
    pub max_new_tokens: Option<usize>,
    /// The number of tokens before which no end token is taken.
    pub min_new_tokens: Option<usize>,
    /// Whether tokens are drawn; otherwise the likeliest is taken.
    pub do_sample: Option<bool>,
    /// Divides the logits before a draw; 0 is the same as greedy.
    pub temperature: Option<f32>,
    /// Draw among this many likeliest tokens; 0 is all.
    pub top_k: Option<usize>,
    /// Draw among the likeliest tokens that together have this probability.
    pub top_p: Option<f32>,
    /// Makes tokens that are already there less likely where above 1.
    pub repetition_penalty: Option<f32>,
    /// Fixes the draws: same seed, same tokens. None is seed 0, so that a run can be repeated.
    pub seed: Option<u64>,
    /// Tokens that end a sequence; an empty list never ends one.
    pub eos_token_ids: Option<Vec<i64>>,
}

/// Why a sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// An end token was generated; it is the last of the ids.
    EndToken,
    /// `max_new_tokens` were generated.
    Length,
}
