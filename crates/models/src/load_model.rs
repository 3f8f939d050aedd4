//! Loads a model from a checkpoint directory onto a device.

use crate::{
    bound_model::{BoundModel, guard, storage},
    checkpoint::Checkpoint,
    config::{self, ModelConfig, ParsedConfig},
    definitions::*,
    description::{Description, FieldsRead},
    erased_model::ErasedModel,
    load_error::LoadError,
    model::Model,
    model_def::ModelDef,
    tensor_account::TensorAccount,
};
use std::path::Path;
#[cfg(any(feature = "cuda", feature = "rocm"))]
use testgen_nn::backend::Gpu;
use testgen_nn::{
    backend::{Cpu, Ops},
    device::BackendDevice,
    forward::Unsupported,
    weights::{self, Residency, Weights},
};
use testgen_processing::processor::Processor;
use testgen_types::{Head, ModelType, Precision, for_each_native_type};

/// Loads the checkpoint on `device`, to compute in `precision`; its layers are where `residency`
/// says.
///
/// The class is the one that the checkpoint's goldens name, else the first of `architectures` in
/// `config.json`.
pub fn load_model(
    model_type: ModelType,
    checkpoint: &Checkpoint,
    device: &BackendDevice,
    precision: Precision,
    residency: Residency,
) -> Result<Model, LoadError> {
    let plan = LoadPlan {
        description: Description::read(model_type, checkpoint)?,
        checkpoint,
        device,
        precision,
        residency,
    };
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
                _ => Err(Unsupported(format!("no native implementation of `{model_type}`")).into()),
            }
        };
    }
    for_each_native_type!(dispatch)
}

/// Everything that a load depends on but the model definition.
struct LoadPlan<'a> {
    description: Description,
    checkpoint: &'a Checkpoint,
    device: &'a BackendDevice,
    precision: Precision,
    residency: Residency,
}

impl LoadPlan<'_> {
    fn load<D: ModelDef>(self) -> Result<Model, LoadError> {
        let Description {
            head, ref config, ..
        } = self.description;
        // After the class is known to be supported: this may compute weights of gigabytes.
        let directory = &self.checkpoint.complete_directory()?;
        let name = self.description.model_type.as_str();
        // Without a checkpoint that can be read, only the sizes that any may have; the error about
        // its files follows.
        let extent = weights::extent(directory).unwrap_or_default();
        // Before the structs are read, which compute tables of these sizes.
        config::check_sizes(name, config, extent)?;
        config::check_dtype(name, config)?;
        let ParsedConfig {
            config: parsed,
            fields,
        } = config::parse::<D::Config>(name, config)?;
        let labels = config::label_count(config);
        let placement = Placing {
            config: &parsed,
            head,
            labels,
            directory,
            precision: self.precision,
            residency: self.residency,
        };
        let (erased, tensors) = match self.device {
            BackendDevice::Cpu(device) => placement.place::<D, Cpu>(device)?,
            #[cfg(any(feature = "cuda", feature = "rocm"))]
            BackendDevice::Gpu(device) => placement.place::<D, Gpu>(device)?,
        };
        let fields = Some(FieldsRead {
            read: fields,
            inert: parsed.inert_fields(head),
        });
        let description = Description {
            fields,
            processor: Processor::open(directory)?,
            ..self.description
        };
        let tensors = description.account(tensors);
        Ok(Model {
            description,
            erased,
            tensors,
            precision: self.precision,
        })
    }
}

/// Everything that putting a network on a device depends on but the backend.
struct Placing<'a, C> {
    config: &'a C,
    head: Head,
    labels: usize,
    directory: &'a Path,
    precision: Precision,
    residency: Residency,
}

impl<C> Placing<'_, C> {
    fn place<D: ModelDef<Config = C>, B: Ops>(
        &self,
        device: &B::Device,
    ) -> Result<(Box<dyn ErasedModel>, TensorAccount), LoadError> {
        let weights = Weights::<B>::open(self.directory, device, storage(self.precision))?
            .with_residency(self.residency);
        let network = guard(|| D::load(self.config, self.head, self.labels, &weights))
            .map_err(|message| LoadError::Device { message })??;
        // Only after the load it is known whether the definition built a stack.
        if self.residency != Residency::Resident && !weights.has_stack() {
            return Err(Unsupported("the model has no stack of layers".to_owned()).into());
        }
        // After the load, which marks the tensors that the configuration ties.
        weights.check_tied()?;
        let tensors = TensorAccount::new(weights.read_names(), weights.unread_names());
        Ok((
            Box::new(BoundModel::new(
                network,
                device.clone(),
                self.precision,
                self.residency,
            )),
            tensors,
        ))
    }
}
