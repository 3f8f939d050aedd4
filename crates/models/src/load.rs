//! Loads a model from a checkpoint directory onto a device.

use crate::{
    bound_model::{BoundModel, guard, storage},
    checkpoint::Checkpoint,
    config::{self, Config, Parsed},
    definitions::*,
    erased_model::ErasedModel,
    load_error::LoadError,
    loaded::{Model, TensorAccount},
    model_def::ModelDef,
};
use serde_json::Value;
use std::path::Path;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_nn::backend::Gpu;
use testgen_nn::{
    backend::{Cpu, Ops},
    device::BackendDevice,
    weights::{self, Weights},
};
use testgen_processing::processor::Processor;
use testgen_types::{Head, ModelType, Precision, QuantizedCheckpoint, for_each_model_type};

/// The file with recorded outputs, which names their class.
const GOLDEN: &str = "golden.safetensors";

/// Loads the checkpoint on `device`, to compute in `precision`.
///
/// The class is the one that the checkpoint's goldens name, else the first of `architectures` in `config.json`.
pub fn load(
    model_type: ModelType,
    checkpoint: &Checkpoint,
    device: &BackendDevice,
    precision: Precision,
) -> Result<Model, LoadError> {
    let config = checkpoint.config()?;
    let found = config::model_type(&config);
    if found != model_type.as_str() {
        return Err(LoadError::WrongModelType { found: found.to_owned(), expected: model_type });
    }
    // First of all that depends on tensors: names, shapes and types of quantized ones would be reported as damage.
    if let Some(quantized) = QuantizedCheckpoint::find(checkpoint.directory(), &config) {
        return Err(LoadError::Quantized { quantized });
    }
    // Without a checkpoint that can be read, only the sizes that any may have; the error about its files follows.
    let extent = weights::extent(checkpoint.directory()).unwrap_or_default();
    config::check_sizes(found, &config, extent)?;
    config::check_dtype(found, &config)?;
    let plan = Plan { model_type, checkpoint, config, device, precision };
    macro_rules! dispatch {
        ($(
            $architecture:ident $feature:literal recorded_by $recorder:literal {
                $($variant:ident $name:literal $file:ident::$definition:ident $class:literal $heads:tt $fields:tt)*
            }
        )*) => {
            match model_type {
                $($(
                    #[cfg(feature = $feature)]
                    ModelType::$variant => plan.load::<$file::$definition>(),
                    #[cfg(not(feature = $feature))]
                    ModelType::$variant => Err(LoadError::NotCompiled { model_type, feature: $feature }),
                )*)*
            }
        };
    }
    for_each_model_type!(dispatch)
}

/// Everything that a load depends on but the model definition.
struct Plan<'a> {
    model_type: ModelType,
    checkpoint: &'a Checkpoint,
    config: Value,
    device: &'a BackendDevice,
    precision: Precision,
}

/// Classes of transformers; a golden may be of another one than the checkpoint.
struct Classes {
    computed: String,
    saved: String,
    /// The file that names the computed one.
    file: &'static str,
}

impl Plan<'_> {
    fn load<D: ModelDef>(self) -> Result<Model, LoadError> {
        let Classes { computed: class, saved, file } = self.classes();
        let head = self.model_type.head(&class).ok_or_else(|| self.unsupported(&class, file))?;
        let Parsed { config, fields } = config::parse::<D::Config>(self.model_type.as_str(), &self.config)?;
        let labels = config::label_count(&self.config);
        let directory = self.checkpoint.directory();
        let placement = Placing { config: &config, head, labels, directory, precision: self.precision };
        let (erased, tensors) = match self.device {
            BackendDevice::Cpu(device) => placement.place::<D, Cpu>(device)?,
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => placement.place::<D, Gpu>(device)?,
        };
        Ok(Model {
            erased,
            model_type: self.model_type,
            head,
            // The head that the file was saved with is left over when
            // another class is computed; that is not a tensor forgotten.
            tensors: if class == saved { tensors } else { tensors.without_other_heads() },
            of_other_class: class != saved,
            class,
            inert_fields: config.inert_fields(head),
            config: self.config,
            fields,
            precision: self.precision,
            processor: Processor::open(directory)?,
        })
    }

    fn classes(&self) -> Classes {
        let base = || format!("{}{}", self.model_type.entry().class, Head::Base);
        let saved = config::saved_class(&self.config).map_or_else(base, str::to_owned);
        // First, because one checkpoint can have goldens of another class than the one that saved it.
        match weights::file_metadata(&self.checkpoint.directory().join(GOLDEN), "model_class") {
            Some(recorded) => Classes { computed: recorded, saved, file: GOLDEN },
            None => Classes { computed: saved.clone(), saved, file: "config.json" },
        }
    }

    fn unsupported(&self, class: &str, file: &'static str) -> LoadError {
        LoadError::UnsupportedClass {
            class: class.to_owned(),
            file,
            model_type: self.model_type,
            supported: self.model_type.classes().join(", "),
        }
    }
}

/// Everything that putting a network on a device depends on but the backend.
struct Placing<'a, C> {
    config: &'a C,
    head: Head,
    labels: usize,
    directory: &'a Path,
    precision: Precision,
}

impl<C> Placing<'_, C> {
    fn place<D: ModelDef<Config = C>, B: Ops>(
        &self,
        device: &B::Device,
    ) -> Result<(Box<dyn ErasedModel>, TensorAccount), LoadError> {
        let weights = Weights::<B>::open(self.directory, device, storage(self.precision))?;
        let network = guard(|| D::load(self.config, self.head, self.labels, &weights))
            .map_err(|message| LoadError::Device { message })??;
        weights.check_tied()?;
        let tensors = TensorAccount::new(weights.read_names(), weights.unread_names());
        Ok((Box::new(BoundModel::new(network, device.clone(), self.precision)), tensors))
    }
}
