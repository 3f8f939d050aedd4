//! The settings of a generation: from the caller, the checkpoint, and transformers' defaults, in
//! that order.

use super::{
    error::GenerationError,
    rules::{TokenRules, ids},
};
use crate::{config_file::ConfigFile, error::PreprocessError};
use serde_json::Value;
use std::path::Path;

/// The length of a sequence, with its prompt, if it is not configured; transformers' default.
const DEFAULT_LENGTH: usize = 20;
/// The number of tokens to sample from, if it is not configured; transformers' default.
const DEFAULT_TOP_K: usize = 50;

/// The caller's settings of a generation. A setting that is `None` takes the checkpoint's
/// `generation_config.json`, then transformers' default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GenerationControls {
    /// The most tokens to add.
    pub max_new_tokens: Option<usize>,
    /// The number of tokens before which no end token is taken.
    pub min_new_tokens: Option<usize>,
    /// Whether tokens are drawn; otherwise the likeliest is taken, and temperature, `top_k` and
    /// `top_p` have no effect.
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
    /// Only 1 is supported: one row for each prompt, whatever the checkpoint would search with.
    pub num_beams: Option<usize>,
}

/// The checkpoint's settings of generation, in `generation_config.json` or else in `config.json`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GenerationDefaults {
    controls: GenerationControls,
    max_length: Option<usize>,
    pad: Option<i64>,
    decoder_start: Option<i64>,
    /// The tokens after the start token of a speech model, or `None` if they would have to be
    /// detected.
    speech: Option<Vec<i64>>,
    rules: TokenRules,
    unsupported: Option<String>,
}

/// Fields that change tokens and are not implemented, with the number that switches them off.
const UNSUPPORTED: [(&str, f64); 16] = [
    ("assistant_early_exit", 0.0),
    ("constraints", 0.0),
    ("diversity_penalty", 0.0),
    ("dola_layers", 0.0),
    ("encoder_no_repeat_ngram_size", 0.0),
    ("encoder_repetition_penalty", 1.0),
    ("epsilon_cutoff", 0.0),
    ("eta_cutoff", 0.0),
    ("exponential_decay_length_penalty", 0.0),
    ("force_words_ids", 0.0),
    ("guidance_scale", 1.0),
    ("min_p", 0.0),
    ("penalty_alpha", 0.0),
    ("sequence_bias", 0.0),
    ("stop_strings", 0.0),
    ("typical_p", 1.0),
];

impl GenerationDefaults {
    /// Reads `directory`; files that are absent say nothing.
    pub fn read(directory: &Path) -> Result<Self, PreprocessError> {
        let file = match ConfigFile::read(directory, "generation_config.json")? {
            Some(file) => file,
            None => of_generator(ConfigFile::read_or_empty(directory, "config.json")?)?,
        };
        let controls = GenerationControls {
            max_new_tokens: file.count("max_new_tokens")?,
            min_new_tokens: file.count("min_new_tokens")?,
            do_sample: file.flag("do_sample")?,
            temperature: float("temperature", &file)?,
            top_k: file.count("top_k")?,
            top_p: float("top_p", &file)?,
            repetition_penalty: float("repetition_penalty", &file)?,
            seed: None,
            eos_token_ids: ids(&file, "eos_token_id")?,
            num_beams: file.count("num_beams")?,
        };
        let first =
            |name| Ok::<_, PreprocessError>(ids(&file, name)?.and_then(|ids| ids.first().copied()));
        let model = of_generator(ConfigFile::read_or_empty(directory, "config.json")?)?;
        let start = "decoder_start_token_id";
        // As `_prepare_special_tokens`: without a start token, a decoder begins with bos.
        let started = [
            ids(&file, start)?,
            ids(&model, start)?,
            ids(&file, "bos_token_id")?,
        ]
        .into_iter()
        .flatten();
        Ok(Self {
            speech: speech_prompt(&file)?,
            decoder_start: started.flatten().next(),
            rules: TokenRules::read(&file)?,
            controls,
            max_length: file.count("max_length")?,
            pad: first("pad_token_id")?,
            unsupported: unsupported(&file),
        })
    }
}

/// The settings of a configuration that contains a generator are the settings of the generator.
fn of_generator(file: ConfigFile) -> Result<ConfigFile, PreprocessError> {
    Ok(file.nested("generator")?.unwrap_or(file))
}

/// `WhisperForConditionalGeneration._retrieve_init_tokens`, without the detection of languages:
/// `forced_decoder_ids`, else the language and the task, and no timestamps.
fn speech_prompt(file: &ConfigFile) -> Result<Option<Vec<i64>>, PreprocessError> {
    let (language, task) = (file.text("language")?, file.text("task")?);
    let mut prompt = Vec::new();
    if let (None, None, Some(forced)) = (
        language,
        task,
        file.get("forced_decoder_ids").and_then(Value::as_array),
    ) {
        for pair in forced {
            // A position without a token means that the language is to be detected, which takes a
            // run of the model.
            let Some(token) = pair.get(1).and_then(Value::as_i64) else {
                return Ok(None);
            };
            prompt.push(token);
        }
    } else if file.get("lang_to_id").is_some() {
        let spoken = language
            // The keys are tokens such as `<|en|>`, the setting may be the code alone.
            .and_then(|language| {
                token_id("lang_to_id", language, file)
                    .or_else(|| token_id("lang_to_id", &format!("<|{language}|>"), file))
            });
        let Some(spoken) = spoken else {
            return Ok(None);
        };
        prompt.push(spoken);
        prompt.extend(token_id("task_to_id", task.unwrap_or("transcribe"), file));
    }
    let silent = file.get("no_timestamps_token_id").and_then(Value::as_i64);
    // `forced_decoder_ids` may end with this token already.
    prompt.extend(silent.filter(|token| prompt.last() != Some(token)));
    Ok(Some(prompt))
}

impl GenerationDefaults {
    /// The first tokens of the decoder of a speech model.
    pub fn speech_prompt(&self) -> Option<Vec<i64>> {
        let start = self.decoder_start?;
        Some([&[start][..], self.speech.as_ref()?].concat())
    }

    /// The token that the decoder beside an encoder begins with.
    pub fn decoder_start(&self) -> Option<i64> {
        self.decoder_start
    }
}

fn unsupported(file: &ConfigFile) -> Option<String> {
    let set = UNSUPPORTED
        .iter()
        .find(|(name, neutral)| file.get(name).is_some_and(|value| !is_off(value, *neutral)));
    set.map(|(name, _)| (*name).to_owned())
}

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
        if let Some(field) = &defaults.unsupported {
            return Err(GenerationError::Unsupported {
                field: field.clone(),
            });
        }
        let checkpoint = &defaults.controls;
        if controls.num_beams.or(checkpoint.num_beams).unwrap_or(1) != 1 {
            // Greedy search instead of beams would give other tokens than transformers, without a
            // warning.
            return Err(GenerationError::Unsupported {
                field: "num_beams".to_owned(),
            });
        }
        // `max_length` includes the prompt.
        let max_new_tokens = controls.max_new_tokens.or(checkpoint.max_new_tokens);
        let max_new_tokens = max_new_tokens.unwrap_or_else(|| {
            defaults
                .max_length
                .unwrap_or(DEFAULT_LENGTH)
                .saturating_sub(prompt_length)
        });
        let min_new_tokens = controls
            .min_new_tokens
            .or(checkpoint.min_new_tokens)
            .unwrap_or(0);
        if min_new_tokens > max_new_tokens {
            let problem =
                format!("is {min_new_tokens}, above the {max_new_tokens} tokens that may be added");
            return Err(GenerationError::Control {
                name: "min_new_tokens",
                problem,
            });
        }
        let eos = controls
            .eos_token_ids
            .clone()
            .or_else(|| checkpoint.eos_token_ids.clone())
            .unwrap_or_default();
        let penalty = controls
            .repetition_penalty
            .or(checkpoint.repetition_penalty)
            .unwrap_or(1.0);
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
            pad: defaults.pad.or_else(|| eos.first().copied()).unwrap_or(0),
            eos,
            rules: defaults.rules.clone(),
        })
    }
}

fn sampling(
    asked: &GenerationControls,
    checkpoint: &GenerationControls,
) -> Result<Option<Sampling>, GenerationError> {
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

fn token_id(table: &str, key: &str, file: &ConfigFile) -> Option<i64> {
    file.get(table)
        .and_then(|table| table.get(key))
        .and_then(Value::as_i64)
}

fn is_off(value: &Value, neutral: f64) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(values) => values.is_empty(),
        Value::Number(number) => number.as_f64() == Some(neutral),
        Value::Bool(true) | Value::String(_) => false,
    }
}

fn float(name: &str, file: &ConfigFile) -> Result<Option<f32>, PreprocessError> {
    Ok(file.number(name)?.map(|value| value as f32))
}
