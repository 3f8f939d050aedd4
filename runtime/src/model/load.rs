//! From a checkpoint directory to a model on a device.

use super::{
    forward::{Forward, ForwardError, Session},
    network::Run,
};
use crate::{Arrays, Checkpoint, Spec, config::ConfigError, open::OpenDevice, weights::WeightsError};
use serde_json::Value;
use testgen_contract::{ModelType, Precision};

/// Why a checkpoint could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// `config.json` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The tensors cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The transformers class is not one that this model type has here.
    #[error("`{class}` is not a supported class of `{model_type}`; supported: {supported}")]
    UnsupportedClass {
        /// The class that the golden or `architectures` names.
        class: String,
        /// The type in `config.json`.
        model_type: ModelType,
        /// The classes that are supported.
        supported: String,
    },
    /// The checkpoint is of another type than the spec.
    #[error("config.json says model_type `{found}`, the spec says `{expected}`")]
    WrongModelType {
        /// In `config.json`.
        found: String,
        /// In the spec.
        expected: ModelType,
    },
    /// The device failed while tensors were put on it.
    #[error("the device failed during the load: {message}")]
    Device {
        /// What the backend said.
        message: String,
    },
}

/// Which tensors of the checkpoint were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorAccount {
    /// Read, by their names in the file.
    pub read: Vec<String>,
    /// In the file, never asked for, and not among those that transformers ignores, too.
    pub unused: Vec<String>,
}

/// A model on its device.
pub struct Model {
    run: Box<dyn Run>,
    class: String,
    config: Value,
    fields: Vec<String>,
    tensors: TensorAccount,
    precision: Precision,
}

impl Model {
    /// Computes every output of the transformers class.
    pub fn forward(&self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        self.run.run(inputs, false)
    }

    /// As [`Model::forward`], with the hidden states.
    pub fn forward_traced(&self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        self.run.run(inputs, true)
    }

    /// A fresh sequence with a key-value cache.
    pub fn session(&self) -> Result<Box<dyn Session + '_>, ForwardError> {
        self.run.session().ok_or_else(|| ForwardError::NoCache { class: self.class.clone() })
    }

    /// The transformers class that is computed, for instance `BertForMaskedLM`.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The configuration as it was read.
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// The configuration fields that the model reads and that are in the file, sorted: changing one must change something.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Which tensors were read.
    pub fn tensors(&self) -> &TensorAccount {
        &self.tensors
    }

    /// The type that the model computes in.
    pub fn precision(&self) -> Precision {
        self.precision
    }
}

/// Loads the checkpoint on `device`, to compute in `precision`.
///
/// The class is the one that the checkpoint's goldens name, else the first of `architectures` in `config.json`.
pub fn load(
    spec: &Spec,
    checkpoint: &Checkpoint,
    device: &OpenDevice,
    precision: Precision,
) -> Result<Model, LoadError> {
    let _ = (spec, checkpoint, device, precision);
    unimplemented!()
}
