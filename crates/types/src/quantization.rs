//! Quantized checkpoints: how they are recognised, and the error that names the method.
//!
//! Owns: the known methods and the signs of them in `config.json`, in files beside it, and in the
//! tensors. `add`, `record` and every load refuse the methods that are not dequantized. Does not
//! own: dequantizing, which `crates/checkpoints` does.

mod configuration;
mod files;
mod method;
mod tensors;

#[cfg(test)]
mod tests;

use crate::{
    bounded_file::{limit, read_bytes},
    excerpt::excerpt,
    python_json::from_python,
};
use method::QuantizationMethod;
use serde_json::Value;
use std::{error::Error, fmt, path::Path};

/// A checkpoint whose weights are quantized, with the method and the sign that it was recognised
/// by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantizedCheckpoint {
    /// The method as `config.json` spells it, for instance `gptq`; as given if it is not known.
    method: String,
    /// Its own options, for instance `4 bits` or `nf4`.
    detail: Option<String>,
    /// The field, file or tensor that shows it.
    evidence: String,
}

impl QuantizedCheckpoint {
    /// How the checkpoint in `directory` is quantized, by `config`, its configuration, by other
    /// files, or by its tensors, or `None` if it is not. Of weights only the headers are read.
    pub fn find(directory: &Path, config: &Value) -> Option<Self> {
        // The surest sign first: the configuration names the method, a file only the tool that
        // wrote it, and tensors are searched last because every file's header is read for them.
        let found = configuration::find(config)
            .or_else(|| files::find(directory))
            .or_else(|| tensors::find(directory));
        found.map(|(method, detail, evidence)| Self {
            method,
            detail,
            evidence,
        })
    }

    /// As [`QuantizedCheckpoint::find`], with the `config.json` of the directory. A file that
    /// cannot be read shows nothing here; it is an error of the command that needs it.
    pub fn in_directory(directory: &Path) -> Option<Self> {
        let bytes = read_bytes(&directory.join("config.json"), limit::CONFIG).unwrap_or_default();
        // Python writes infinite numbers as bare words, which would hide the options beside them.
        let config = serde_json::from_slice(&from_python(&bytes)).unwrap_or(Value::Null);
        Self::find(directory, &config)
    }

    /// The method by its usual name, if its weights are dequantized when they are read, and the
    /// checkpoint is not refused.
    pub fn dequantized(&self) -> Option<&'static str> {
        let method = QuantizationMethod::named(&self.method)?;
        method.is_dequantized.then_some(method.id)
    }

    /// The options of the method in `config`; null if it has none.
    pub fn options(config: &Value) -> &Value {
        configuration::options(config).unwrap_or(&Value::Null)
    }

    /// The options of the method of the checkpoint in `directory`, by `config`, its configuration,
    /// or by the file of a tool; null if it has none.
    pub fn options_in(directory: &Path, config: &Value) -> Value {
        configuration::options(config)
            .cloned()
            .or_else(|| files::options(directory).map(Value::Object))
            .unwrap_or(Value::Null)
    }

    /// Takes the options of any method out of `config`, so that it describes unquantized weights.
    pub fn remove_options(config: &mut Value) {
        configuration::remove(config);
    }

    /// Whether a tool keeps its options in a file with this name.
    pub fn is_options_file(name: &str) -> bool {
        files::is_options_file(name)
    }

    /// The hint for the user: where to get weights that are not quantized.
    pub fn remedy(&self) -> String {
        let original = "use the checkpoint that it was quantized from";
        match QuantizationMethod::named(&self.method).and_then(|method| method.unquantized_by) {
            Some(way) => {
                format!("{original}, or write an unquantized copy with transformers 5: {way}")
            }
            None => original.to_owned(),
        }
    }
}

impl fmt::Display for QuantizedCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match QuantizationMethod::named(&self.method) {
            Some(method) => write!(f, "the weights are quantized with {}", method.name)?,
            None => write!(
                f,
                "the weights are quantized with the unknown method `{}`",
                excerpt(&self.method)
            )?,
        }
        if let Some(detail) = &self.detail {
            write!(f, " ({})", excerpt(detail))?;
        }
        write!(f, ", according to {}", excerpt(&self.evidence))?;
        match self.dequantized() {
            Some(_) => Ok(()),
            None => f.write_str("; testgen does not dequantize this method"),
        }
    }
}

impl Error for QuantizedCheckpoint {}
