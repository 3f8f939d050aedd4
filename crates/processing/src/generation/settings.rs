//! The settings of a generation: from the caller, the checkpoint, and transformers' defaults, in
//! that order.

use super::{
    defaults::{GenerationControls, GenerationDefaults},
    error::GenerationError,
    rules::TokenRules,
};

/// The length of a sequence, with its prompt, if it is not configured; transformers' default.
const DEFAULT_LENGTH: usize = 20;
/// The number of tokens to sample from, if it is not configured; transformers' default.
const DEFAULT_TOP_K: usize = 50;

/// The resolved settings.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationSettings {
    /// The most tokens to generate.
    pub max_new_tokens: usize,
    /// End tokens are forbidden before this many.
    pub min_new_tokens: usize,
    /// None is greedy.
    pub sampling: Option<Sampling>,
    /// Divides the positive logits of tokens that are there, multiplies the negative ones; 1 is
    /// off.
    pub repetition_penalty: f32,
    /// End tokens.
    pub eos: Vec<i64>,
    /// The checkpoint's constraints on tokens.
    pub(super) rules: TokenRules,
    /// The token that finished rows are continued with; its logits are ignored.
    pub pad: i64,
}

/// How tokens are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Above 0.
    pub temperature: f32,
    /// 0 is all.
    pub top_k: usize,
    /// Above 0, at most 1.
    pub top_p: f32,
    pub seed: u64,
}

impl GenerationSettings {
    /// Resolves the settings for prompts of `prompt_length` tokens, padding included.
    pub fn new(
        controls: &GenerationControls,
        defaults: &GenerationDefaults,
        prompt_length: usize,
    ) -> Result<Self, GenerationError> {
        confirm_supported(controls, defaults)?;
        let checkpoint = &defaults.controls;
        let eos = controls
            .eos_token_ids
            .clone()
            .or_else(|| checkpoint.eos_token_ids.clone())
            .unwrap_or_default();
        let penalty = controls
            .repetition_penalty
            .or(checkpoint.repetition_penalty)
            .unwrap_or(1.0);
        let [min_new_tokens, max_new_tokens] = new_tokens(controls, defaults, prompt_length)?;
        Ok(Self {
            max_new_tokens,
            min_new_tokens,
            sampling: sampling(controls, checkpoint)?,
            repetition_penalty: within(
                "repetition_penalty",
                penalty,
                |value| value > 0.0,
                "above 0",
            )?,
            // Without a padding token, `generate` pads with the first end token.
            pad: defaults.pad.or_else(|| eos.first().copied()).unwrap_or(0),
            eos,
            rules: defaults.rules.clone(),
        })
    }
}

fn confirm_supported(
    controls: &GenerationControls,
    defaults: &GenerationDefaults,
) -> Result<(), GenerationError> {
    if let Some(field) = &defaults.unsupported {
        return Err(GenerationError::Unsupported {
            field: field.clone(),
        });
    }
    // Greedy search instead of beams would give other tokens than transformers, without a warning.
    match controls.num_beams.or(defaults.controls.num_beams) {
        None | Some(1) => Ok(()),
        Some(_) => Err(GenerationError::Unsupported {
            field: "num_beams".to_owned(),
        }),
    }
}

/// The least and the most tokens to add to a prompt.
fn new_tokens(
    controls: &GenerationControls,
    defaults: &GenerationDefaults,
    prompt_length: usize,
) -> Result<[usize; 2], GenerationError> {
    let checkpoint = &defaults.controls;
    let most = controls.max_new_tokens.or(checkpoint.max_new_tokens);
    // `max_length` includes the prompt.
    let most = most.unwrap_or_else(|| {
        defaults
            .max_length
            .unwrap_or(DEFAULT_LENGTH)
            .saturating_sub(prompt_length)
    });
    let least = controls
        .min_new_tokens
        .or(checkpoint.min_new_tokens)
        .unwrap_or(0);
    if least > most {
        return Err(GenerationError::Control {
            name: "min_new_tokens",
            problem: format!("is {least}, above the {most} tokens that may be added"),
        });
    }
    Ok([least, most])
}

fn sampling(
    asked: &GenerationControls,
    checkpoint: &GenerationControls,
) -> Result<Option<Sampling>, GenerationError> {
    // 1 leaves the logits as they are, and is the default of `GenerationConfig`.
    let temperature = asked.temperature.or(checkpoint.temperature).unwrap_or(1.0);
    let temperature = within(
        "temperature",
        temperature,
        |value| value >= 0.0,
        "0 or more",
    )?;
    let top_p = asked.top_p.or(checkpoint.top_p).unwrap_or(1.0);
    let top_p = within(
        "top_p",
        top_p,
        |value| value > 0.0 && value <= 1.0,
        "above 0 and at most 1",
    )?;
    let top_k = asked.top_k.or(checkpoint.top_k).unwrap_or(DEFAULT_TOP_K);
    // A temperature of 0 would divide by zero; its limit is the greedy choice.
    let drawn = asked.do_sample.or(checkpoint.do_sample).unwrap_or(false) && temperature > 0.0;
    Ok(drawn.then(|| Sampling {
        temperature,
        top_k,
        top_p,
        seed: asked.seed.unwrap_or(0),
    }))
}

fn within(
    name: &'static str,
    value: f32,
    allowed: fn(f32) -> bool,
    range: &str,
) -> Result<f32, GenerationError> {
    if value.is_finite() && allowed(value) {
        return Ok(value);
    }
    Err(GenerationError::Control {
        name,
        problem: format!("is {value}, expected a number {range}"),
    })
}
