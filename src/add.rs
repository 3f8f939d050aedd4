//! Writes a spec for a checkpoint from its `config.json`; nothing is guessed.
//!
//! Owns: what is read from a checkpoint's directory and how the spec is written. Does not own: the
//! path that it is written to.

mod error;
mod head;
mod nearest;
mod text;

pub use error::AddError;
pub use nearest::Nearest;
pub use text::{SpecHeader, spec_text};

use crate::spec::ModelName;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use testgen_base::{checkpoint_files, text::limited};
use testgen_types::{
    Architecture, ModelType, Task,
    bounded_file::{limit, read_bytes},
    from_python,
};

/// The properties of a checkpoint's directory that a spec depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCheckpoint {
    /// The directory.
    pub directory: PathBuf,
    /// The model type of `config.json`.
    pub model_type: ModelType,
    /// The task of the head that `architectures` of `config.json` names, or the one that was asked
    /// for.
    pub task: Task,
    /// The missing file of the tokenizer or processor, which turns text or images into the model's
    /// input; `None` if it is there.
    pub missing_preprocessor: Option<&'static str>,
    /// Whether there is `golden.safetensors`.
    pub has_goldens: bool,
    /// Whether there are weights as safetensors.
    pub has_weights: bool,
}

/// The part of `config.json` that decides what a model is.
#[derive(Debug, Deserialize)]
struct CheckpointConfig {
    model_type: Option<String>,
    /// The class of a model of diffusers, which has no `model_type`.
    #[serde(rename = "_class_name")]
    class_name: Option<String>,
    #[serde(default)]
    architectures: Option<Vec<String>>,
    /// The other fields, from which the nearest architecture of an unsupported model is derived.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Reads a checkpoint's directory; `task` takes precedence over the head.
pub fn inspect(directory: &Path, task: Option<Task>) -> Result<FoundCheckpoint, AddError> {
    let path = directory.join("config.json");
    // A missing directory has an error of its own, in `read_config`.
    if directory.is_dir() {
        checkpoint_files::check(directory)?;
    }
    let config = read_config(directory, &path)?;
    let given = config
        .model_type
        .or(config.class_name.clone())
        .ok_or_else(|| AddError::NoModelType { path: path.clone() })?;
    // A file of diffusers has its class in another field.
    let heads = config
        .architectures
        .unwrap_or(config.class_name.into_iter().collect());
    let head = heads.first().map(String::as_str);
    // Before parsing, for which such a class would only be an unknown model type.
    if let Some(argument) = ModelType::refused_argument(&given) {
        return Err(AddError::RefusedClass {
            class: given,
            argument,
        });
    }
    let model_type = given
        .parse::<ModelType>()
        .map_err(|unknown| AddError::UnknownModelType {
            unknown,
            nearest: nearest::nearest(head, &config.rest),
        })?;
    let task = head::task(model_type, head, task)?;
    let preprocessors = preprocessors(model_type);
    let is_missing = !preprocessors
        .iter()
        .any(|name| directory.join(name).is_file());
    Ok(FoundCheckpoint {
        directory: directory.to_owned(),
        model_type,
        task,
        missing_preprocessor: preprocessors.first().copied().filter(|_| is_missing),
        has_goldens: directory.join("golden.safetensors").is_file(),
        has_weights: checkpoint_files::has_weights(directory),
    })
}

/// The files of which a checkpoint of the type has one, to turn text or images into the model's
/// input; the usual one first.
fn preprocessors(model_type: ModelType) -> &'static [&'static str] {
    match model_type.architecture() {
        // What the collator of graphs needs to know is in there.
        // Operators have no checkpoint, so that no model type leads here.
        Architecture::Graph | Architecture::Operators => &["config.json"],
        // Its tokenizer has no file of the other form.
        _ if model_type == ModelType::Vits => &["vocab.json"],
        architecture if architecture.reads_text() => {
            // Checkpoints of Marian have SentencePiece files instead, checkpoints of RAG one folder
            // for each of two tokenizers.
            &[
                "tokenizer.json",
                "source.spm",
                "question_encoder_tokenizer/tokenizer.json",
            ]
        }
        _ => &["preprocessor_config.json"],
    }
}

/// The model's name: the one given, else the last part of the directory.
pub fn name(directory: &Path, given: Option<&str>) -> Result<ModelName, AddError> {
    // `.` and a path that ends in `..` have no last part; the directory they lead to has.
    let real = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    let last = real
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text = given.unwrap_or(&last);
    ModelName::new(text).map_err(|source| AddError::BadName {
        name: text.to_owned(),
        source,
    })
}

fn read_config(directory: &Path, path: &Path) -> Result<CheckpointConfig, AddError> {
    if !directory.is_dir() {
        return Err(AddError::NoDirectory {
            path: directory.to_owned(),
        });
    }
    let bytes = read_bytes(path, limit::CONFIG).map_err(|error| match error.is_missing() {
        true => AddError::NoConfig {
            directory: directory.to_owned(),
        },
        false => AddError::Unreadable {
            path: path.to_owned(),
            // Without the path, which the error has already.
            reason: error.problem.to_string(),
        },
    })?;
    serde_json::from_slice(&from_python(&bytes)).map_err(|error| AddError::Garbled {
        path: path.to_owned(),
        // The parser's messages repeat values of the file, which can have any length.
        reason: limited(&error.to_string()),
    })
}
