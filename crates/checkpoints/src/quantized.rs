//! Quantized checkpoints: the weights that transformers, or the library of the method, computes
//! from what the files have, and the files of synthetic weights that a method quantizes.
//!
//! Owns: the layouts of the methods, and their arithmetic. Every value is rounded once, to the type
//! that the library computes in, so that it equals the library's bit for bit. Does not own: how a
//! method is recognised (`testgen_types::QuantizedCheckpoint`), and rounding of activations, which
//! no check needs.

mod affine;
mod awq;
mod bitsandbytes;
mod compressed_tensors;
mod dense;
mod float8;
mod fp8;
mod gptq;
mod layer;
mod method;
mod mxfp4;
mod packed;
mod parts;
mod rounding;
mod stored;
mod writer;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use crate::error::SyntheticError;
pub(crate) use dense::DenseTensor;
pub(crate) use layer::{DenseLayer, PartLayout, QuantizedShape, WeightWriter};
use method::Method;
use parts::Parts;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};
use stored::StoredFiles;
use testgen_types::{
    QuantizationScheme, QuantizedCheckpoint,
    bounded_file::{limit, read_bytes},
    from_python,
};
pub(crate) use writer::writer;

/// The configuration of the checkpoint in `directory`; null if there is none, which the load
/// reports.
pub(crate) fn config_of(directory: &Path) -> Value {
    let bytes = read_bytes(&directory.join("config.json"), limit::CONFIG).unwrap_or_default();
    serde_json::from_slice(&from_python(&bytes)).unwrap_or(Value::Null)
}

/// The name of the weights in a checkpoint with this configuration.
pub(crate) fn weights_name(config: &Value) -> &'static str {
    // Configurations of diffusers name their class in this field, and it reads no other file.
    match config.get("_class_name") {
        Some(_) => "diffusion_pytorch_model.safetensors",
        None => "model.safetensors",
    }
}

/// `config.json` of the unquantized weights.
pub(crate) fn without_quantization(config: &[u8]) -> Vec<u8> {
    match serde_json::from_slice::<Value>(&from_python(config)) {
        Ok(mut config) => {
            QuantizedCheckpoint::remove_options(&mut config);
            config.to_string().into_bytes()
        }
        // Text that is not JSON stays as it is, for the load to report.
        Err(_) => config.to_owned(),
    }
}

/// `config.json` of weights that `scheme` quantizes.
pub(crate) fn with_quantization(config: &[u8], scheme: QuantizationScheme) -> Vec<u8> {
    match serde_json::from_slice::<Value>(&from_python(config)) {
        Ok(Value::Object(mut config)) => {
            let options = writer(scheme).options();
            config.insert("quantization_config".to_owned(), options);
            format!("{:#}\n", Value::Object(config)).into_bytes()
        }
        // The load reports a configuration that is not one.
        Ok(_) | Err(_) => config.to_owned(),
    }
}

/// The files of a quantized checkpoint, and its tensors by the names that a model reads.
pub(crate) struct QuantizedWeights {
    files: StoredFiles,
    method: Method,
    /// The names of the tensors, each with the stored ones that it is computed from.
    tensors: BTreeMap<String, Parts>,
}

impl QuantizedWeights {
    /// The weights in `directory` by `config`, its configuration; `None` if they are not quantized
    /// by a method that is dequantized here.
    ///
    /// # Errors
    ///
    /// When the files cannot be read.
    pub(crate) fn open(directory: &Path, config: &Value) -> Result<Option<Self>, SyntheticError> {
        let Some(method) = Method::find(directory, config) else {
            return Ok(None);
        };
        let files = StoredFiles::open(directory, weights_name(config))?;
        let tensors = parts::grouped(files.names(), &method.layout());
        Ok(Some(Self {
            files,
            method,
            tensors,
        }))
    }

    /// The names of the tensors, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The tensor `name`.
    ///
    /// # Errors
    ///
    /// When a part is missing, or has a shape or type that the method does not have.
    pub(crate) fn tensor(&self, name: &str) -> Result<DenseTensor, SyntheticError> {
        let parts = &self.tensors[name];
        let read = parts.read(&self.files);
        let computed = read.and_then(|parts| self.method.dequantize(name, parts));
        computed.map_err(|reason| SyntheticError::quantized(self.files.directory(), name, &reason))
    }

    /// A digest of everything that the values depend on, without reading the values: the headers,
    /// and the size and time of change of each file.
    pub(crate) fn identity(&self) -> String {
        self.files.identity(self.method.options())
    }
}
