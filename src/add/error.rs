//! Why no spec can be written for a checkpoint.

use super::Nearest;
use crate::spec::{MAX_NAME_LENGTH, NameError};
use std::path::PathBuf;
use testgen_base::{
    checkpoint_files::CheckpointFilesError, cli_error::CliError, closed_enum::ClosedEnum,
    text::Quoted,
};
use testgen_types::{Architecture, ModelType, Task, UnknownName};

/// Why no spec can be written for a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// There is no such directory.
    #[error("there is no directory {}", Quoted(&path.display().to_string()))]
    NoDirectory {
        /// The given path.
        path: PathBuf,
    },
    /// The directory has no `config.json`, so it is not a checkpoint.
    #[error("there is no `config.json` in {}", Quoted(&directory.display().to_string()))]
    NoConfig {
        /// The directory.
        directory: PathBuf,
    },
    /// The weights are a pickle or quantized, or a name or a link leads out of the directory.
    #[error(transparent)]
    Files(#[from] CheckpointFilesError),
    /// `config.json` cannot be read.
    #[error("cannot read {}: {reason}", Quoted(&path.display().to_string()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// `config.json` is not valid JSON, or a field has the wrong type.
    #[error("{} is garbled: {reason}", Quoted(&path.display().to_string()))]
    Garbled {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// `config.json` does not contain the model type.
    #[error("{} has no `model_type`", Quoted(&path.display().to_string()))]
    NoModelType {
        /// The file.
        path: PathBuf,
    },
    /// The model type is neither implemented here nor listed by transformers or diffusers.
    #[error("the model_type {} is not known here", Quoted(&unknown.given))]
    UnknownModelType {
        /// The type, and those near to it.
        unknown: UnknownName,
        /// The architecture that the other fields point to.
        nearest: Option<Nearest>,
    },
    /// The class of diffusers takes what no golden has.
    #[error(
        "the class {} of diffusers cannot be tested: its argument `{argument}` is not a tensor",
        Quoted(class)
    )]
    RefusedClass {
        /// The class.
        class: String,
        /// Its argument.
        argument: &'static str,
    },
    /// `config.json` does not name the head of the model.
    #[error("`config.json` has no `architectures`, so the head of the model is not known")]
    NoHead {
        /// The model's architecture.
        architecture: Architecture,
    },
    /// The class is not implemented, or has no task.
    #[error(
        "the class {} in `architectures` of `config.json` has no task for the model_type `{model_type}`",
        Quoted(class)
    )]
    UnknownHead {
        /// The class that `architectures` names.
        class: String,
        /// The model's type.
        model_type: ModelType,
    },
    /// The architecture does not have the task of `--task`.
    #[error("architecture `{architecture}` has no task `{task}`")]
    WrongTask {
        /// The task that was asked for.
        task: Task,
        /// The model's architecture.
        architecture: Architecture,
    },
    /// The text cannot be the name of a model.
    #[error("{} is not a valid model name: {source}", Quoted(name))]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        source: NameError,
    },
    /// There is a spec of that name.
    #[error("there is a spec `{name}` already, {}", Quoted(&path.display().to_string()))]
    Exists {
        /// The name.
        name: String,
        /// The spec.
        path: PathBuf,
    },
}

impl CliError for AddError {
    fn help(&self) -> Option<String> {
        Some(match self {
            // First: such a path is a name on the Hub, and the user expects a download.
            Self::NoDirectory { path } if looks_like_hub(path) => {
                let id = path.display();
                format!(
                    "testgen downloads nothing; to get it from the Hub: `hf download {id} --local-dir checkpoints/{id}`"
                )
            }
            Self::Files(error) => return error.help(),
            Self::NoDirectory { .. } | Self::NoConfig { .. } => {
                "name the directory of a Hugging Face checkpoint, with `config.json` and safetensors".to_owned()
            }
            Self::Unreadable { .. } | Self::Garbled { .. } => return None,
            Self::NoModelType { .. } => {
                "a checkpoint of transformers names its `model_type`; without it the model is unknown".to_owned()
            }
            Self::UnknownModelType { unknown, nearest } => unknown_model_type(unknown, nearest.as_ref()),
            Self::RefusedClass { .. } => {
                "goldens and the messages of engines have tensors only; test the other models of the pipeline".to_owned()
            }
            Self::NoHead { architecture } => format!("give it with `--task`: {}", variants(architecture.tasks())),
            Self::UnknownHead { model_type, .. } => {
                let classes: Vec<String> = model_type.classes().iter().map(|class| format!("`{class}`")).collect();
                let tasks = variants(model_type.architecture().tasks());
                format!("implemented are {}; give the task with `--task`: {tasks}", classes.join(", "))
            }
            Self::WrongTask { architecture, .. } => format!("its tasks are {}", variants(architecture.tasks())),
            Self::BadName { .. } => {
                format!("give another one with `--name NAME`, {MAX_NAME_LENGTH} characters at most")
            }
            Self::Exists { .. } => "overwrite it with `--force`, or give another name with `--name NAME`".to_owned(),
        })
    }
}

fn unknown_model_type(unknown: &UnknownName, nearest: Option<&Nearest>) -> String {
    let mut hints: Vec<String> = nearest.map(Nearest::to_string).into_iter().collect();
    if !unknown.near.is_empty() {
        let near: Vec<String> = unknown
            .near
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        hints.push(format!(
            "types with a similar name: {}; a similar name is not the same model",
            near.join(", ")
        ));
    }
    hints.push(ModelType::known());
    hints.join("; ")
}

fn variants<T: ClosedEnum>(all: &[T]) -> String {
    all.iter()
        .map(|variant| format!("`{variant}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a path that does not exist has the form `owner/name`.
fn looks_like_hub(path: &std::path::Path) -> bool {
    let text = path.display().to_string();
    let parts: Vec<&str> = text.split('/').collect();
    parts.len() == 2
        && parts
            .iter()
            .all(|part| crate::spec::ModelName::new(part).is_ok())
}
