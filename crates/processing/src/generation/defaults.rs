//! The caller's settings of a generation, and the settings that a checkpoint has.

use super::rules::{TokenRules, ids};
use crate::{config_file::ConfigFile, error::PreprocessError};
use serde_json::Value;
use std::path::Path;

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
    pub(super) controls: GenerationControls,
    pub(super) max_length: Option<usize>,
    pub(super) pad: Option<i64>,
    decoder_start: Option<i64>,
    /// The tokens after the start token of a speech model, or `None` if they would have to be
    /// detected.
    speech: Option<Vec<i64>>,
    pub(super) rules: TokenRules,
    pub(super) unsupported: Option<String>,
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
        // As Whisper's `generate`, if only a language is set.
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
