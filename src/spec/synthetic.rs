//! The configuration of a synthetic checkpoint, and whether a recording is of this one.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use testgen_base::{cli_error::CliError, text::limited};
use testgen_checkpoints::{Recipe, SyntheticError};
use testgen_types::{
    QuantizationScheme,
    bounded_file::{FileError, limit, read_bytes},
    from_python,
};

/// The configuration and the seed of a synthetic checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SyntheticSource {
    /// The content of `config.json`, with `architectures`, or the path of such a file, relative to
    /// this one.
    #[schemars(schema_with = "config_schema")]
    pub config: SyntheticConfig,
    /// Selects the weights; the same seed produces the same bytes on every machine.
    pub seed: u64,
}

/// The configuration of a synthetic checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SyntheticConfig {
    /// The path of a `config.json`, relative to the spec.
    File(String),
    /// Its content.
    Inline(Value),
}

impl SyntheticConfig {
    /// The content of `config.json`, for a spec in the file `spec`.
    ///
    /// # Errors
    ///
    /// When a file that it names cannot be read.
    pub fn text(&self, spec: &Path) -> Result<Vec<u8>, FileError> {
        match self {
            Self::File(path) => read_bytes(
                &spec.parent().unwrap_or(Path::new("")).join(path),
                limit::CONFIG,
            ),
            Self::Inline(config) => Ok(format!("{config:#}\n").into_bytes()),
        }
    }
}

impl SyntheticSource {
    /// The directory with what `testgen record` writes, for a spec in the file `spec`.
    pub fn directory(spec: &Path) -> PathBuf {
        // A name may contain dots: only `.yaml` is taken off.
        spec.with_extension("")
    }

    /// Reports a recording of another configuration, seed or scheme, for a spec in the file `spec`.
    /// A missing one is reported by the checks, as any missing checkpoint.
    ///
    /// # Errors
    ///
    /// When a recorded file cannot be read, or differs from the spec.
    pub fn check_recording(
        &self,
        quantise: Option<QuantizationScheme>,
        spec: &Path,
    ) -> Result<(), SyntheticProblem> {
        let directory = Self::directory(spec);
        if !directory.join(testgen_checkpoints::FILE).is_file() {
            return Ok(());
        }
        let config = directory.join("config.json");
        let recorded = json(&config, &read_bytes(&config, limit::CONFIG)?)?;
        let recipe = Recipe::read(&directory)?;
        // As values: the layout and the order of keys can differ.
        let key = if json(spec, &self.config.text(spec)?)? != recorded {
            "synthetic.config"
        } else if recipe.seed != self.seed {
            "synthetic.seed"
        } else if recipe.quantise != quantise {
            "quantise"
        } else {
            return Ok(());
        };
        Err(SyntheticProblem::Changed {
            spec: spec.to_owned(),
            key,
        })
    }
}

/// A configuration, or the path of its file.
fn config_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["object", "string"] })
}

fn json(path: &Path, text: &[u8]) -> Result<Value, SyntheticProblem> {
    serde_json::from_slice(&from_python(text)).map_err(|error| SyntheticProblem::NotJson {
        path: path.to_owned(),
        reason: limited(&error.to_string()),
    })
}

/// A recorded synthetic checkpoint differs from its spec.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticProblem {
    /// The spec was changed after recording.
    #[error("`checkpoint.{key}` of `{}` is not the recorded one", spec.display())]
    Changed {
        /// The spec.
        spec: PathBuf,
        /// The key below `checkpoint`.
        key: &'static str,
    },
    /// A configuration is not JSON.
    #[error("the configuration in `{}` is not JSON: {reason}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The recipe is damaged.
    #[error(transparent)]
    Recipe(#[from] SyntheticError),
}

impl CliError for SyntheticProblem {
    fn help(&self) -> Option<String> {
        match self {
            Self::Changed { spec, .. } => {
                let name = spec.file_stem().unwrap_or_default().to_string_lossy();
                Some(format!(
                    "record it again with `testgen record {name} --force`, or undo the change"
                ))
            }
            Self::NotJson { .. } | Self::File(_) | Self::Recipe(_) => None,
        }
    }
}
