//! Errors of loading a checkpoint.

use crate::config::ConfigError;
use testgen_checkpoints::SyntheticError;
use testgen_nn::{forward::Unsupported, weights::WeightsError};
use testgen_processing::error::PreprocessError;
use testgen_types::{ModelType, QuantizedCheckpoint, excerpt};

/// A checkpoint cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// `config.json` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The weights of a synthetic checkpoint cannot be made.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// The tensors cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The transformers class is not one that this model type has here.
    #[error(
        "`{}` in {file} is not a supported class of `{model_type}`; supported: {supported}",
        excerpt(class)
    )]
    UnsupportedClass {
        /// The class that the golden or `architectures` names.
        class: String,
        /// The file that names it.
        file: &'static str,
        /// The type in `config.json`.
        model_type: ModelType,
        /// The classes that are supported.
        supported: String,
    },
    /// The checkpoint is of another type than the spec.
    #[error(
        "config.json says model_type `{}`, the spec says `{expected}`",
        excerpt(found)
    )]
    WrongModelType {
        /// In `config.json`.
        found: String,
        /// In the spec.
        expected: ModelType,
    },
    /// The weights are quantized by a method that is not dequantized.
    #[error("{quantized}; {}", quantized.remedy())]
    Quantized {
        /// The method, and the sign of it.
        quantized: QuantizedCheckpoint,
    },
    /// The architecture of the type was not compiled.
    #[error(
        "this suite was built without the models of `{model_type}`; enable the feature `{feature}` of `testgen-runtime`"
    )]
    NotCompiled {
        /// The type in `config.json`.
        model_type: ModelType,
        /// The cargo feature of its architecture.
        feature: &'static str,
    },
    /// The tokenizer or the image processor cannot be used.
    #[error(transparent)]
    Preprocess(#[from] PreprocessError),
    /// The engine that computes the model does not have what the checkpoint needs.
    #[error("not supported by the engine: {0}")]
    Unsupported(#[from] Unsupported),
    /// The engine that computes the model failed.
    #[error("{message}")]
    Engine {
        /// Its error, with its last output.
        message: String,
    },
    /// The device failed while tensors were put on it.
    #[error("the device failed during the load: {}", excerpt(message))]
    Device {
        /// The backend's message.
        message: String,
    },
}
