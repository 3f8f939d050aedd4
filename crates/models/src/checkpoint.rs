//! A checkpoint directory in the layout of `save_pretrained`, and its location for a harness.

use crate::config::ConfigError;
use serde_json::Value;
use std::path::{Path, PathBuf};
use testgen_checkpoints::SyntheticError;
use testgen_types::{
    QuantizedCheckpoint,
    bounded_file::{limit, read_bytes},
    excerpt, from_python,
};

/// The location of a harness's checkpoint.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The directory, relative to the suite's manifest, or absolute if the spec has an absolute
    /// path.
    pub path: &'static str,
    /// The hub id of real weights, looked up below `TESTGEN_CHECKPOINTS`.
    pub hub: Option<&'static str>,
}

/// The variable that names a directory with real checkpoints, `<directory>/<hub id>`.
const CHECKPOINTS_VARIABLE: &str = "TESTGEN_CHECKPOINTS";

impl Source {
    /// The checkpoint to use: real weights where `TESTGEN_CHECKPOINTS` has them, else the fixture.
    pub fn checkpoint(&self, suite: &Path) -> Checkpoint {
        let real = std::env::var_os(CHECKPOINTS_VARIABLE)
            .zip(self.hub)
            .map(|(directory, hub)| Path::new(&directory).join(hub))
            // The directory need not have every model; the others are tested with their fixtures.
            .filter(|directory| directory.join("config.json").is_file());
        Checkpoint::at(real.unwrap_or_else(|| suite.join(self.path)))
    }
}

/// A checkpoint to load. Problems of the directory are reported by the load.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    directory: PathBuf,
    config: Option<Value>,
}

impl Checkpoint {
    /// The checkpoint in `directory`.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            config: None,
        }
    }

    /// The same weights under another configuration in place of `config.json`.
    pub fn with_config(&self, config: Value) -> Self {
        Self {
            config: Some(config),
            ..self.clone()
        }
    }

    /// The directory of the files, without the weights of a recipe.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of the files and the weights. Weights of a recipe, and of a quantized
    /// checkpoint, are computed now, unless the cache has them: an ignored check of a large model
    /// must not write gigabytes.
    ///
    /// # Errors
    ///
    /// When the recipe or the quantized weights are damaged, or the cache cannot be written.
    pub fn complete_directory(&self) -> Result<PathBuf, SyntheticError> {
        testgen_checkpoints::checkpoint(&self.directory)
    }

    /// The configuration: the replacement, else `config.json`.
    pub fn config(&self) -> Result<Value, ConfigError> {
        if let Some(config) = &self.config {
            return Ok(config.clone());
        }
        let path = self.directory.join("config.json");
        // With a limit, so that no file can fill the memory.
        let bytes = read_bytes(&path, limit::CONFIG).map_err(|error| ConfigError::Unreadable {
            path: error.path,
            message: error.problem.to_string(),
        })?;
        // Python writes infinite numbers as bare words, which are not JSON.
        let parsed = serde_json::from_slice(&from_python(&bytes));
        let mut config: Value = parsed.map_err(|error| ConfigError::NotJson {
            path,
            message: excerpt(&error.to_string()).into_owned(),
        })?;
        // Nothing reads the options of a quantization, so the account of fields would refuse them.
        if self.is_dequantized(&config) {
            QuantizedCheckpoint::remove_options(&mut config);
        }
        Ok(config)
    }

    /// The quantization of the weights, if no model reads them. `config` has no options of a method
    /// that is dequantized, and its tensors alone can look like those of another one.
    pub(crate) fn refused_quantization(&self, config: &Value) -> Option<QuantizedCheckpoint> {
        let found = QuantizedCheckpoint::find(&self.directory, config)?;
        let is_dequantized =
            found.dequantized().is_some() || testgen_checkpoints::is_dequantized(&self.directory);
        (!is_dequantized).then_some(found)
    }

    /// Whether `config` is of quantized weights, and a model reads dequantized ones.
    fn is_dequantized(&self, config: &Value) -> bool {
        // A checkpoint without quantization options is not changed, and no file has to be read.
        !QuantizedCheckpoint::options(config).is_null()
            && QuantizedCheckpoint::find(&self.directory, config)
                .is_some_and(|found| found.dequantized().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use std::fs;

    #[test]
    fn a_recipe_is_read_for_its_weights_alone() {
        let suite = tempfile::tempdir().expect("a directory");
        fs::create_dir(suite.path().join("bert")).expect("is new");
        for (name, content) in [("config.json", "{}"), ("synthetic.json", "1")] {
            fs::write(suite.path().join("bert").join(name), content).expect("is written");
        }
        let source = Source {
            path: "bert",
            hub: None,
        };
        let checkpoint = source.checkpoint(suite.path());
        assert_eq!(checkpoint.config().expect("is read"), serde_json::json!({}));
        let error = checkpoint.complete_directory().expect_err("fails");
        let text = error.to_string();
        assert!(text.contains("is not the recipe of a checkpoint"), "{text}");
    }
}
