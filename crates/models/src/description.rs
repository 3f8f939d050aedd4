//! A checkpoint without its weights: the properties of a model that are the same in every engine.

use crate::{
    capabilities::Capabilities, checkpoint::Checkpoint, config, load_error::LoadError,
    tensor_account::TensorAccount,
};
use serde_json::Value;
use std::path::Path;
use testgen_nn::weights;
use testgen_processing::processor::Processor;
use testgen_types::{Head, ModelType};

/// The file with recorded outputs, which names their class.
const GOLDEN: &str = "golden.safetensors";

/// The properties of a model that are the same in every engine: type, class, configuration and
/// processors.
#[derive(Debug)]
pub struct Description {
    pub(crate) model_type: ModelType,
    pub(crate) class: String,
    /// Whether the checkpoint was saved by another class.
    pub(crate) of_other_class: bool,
    pub(crate) head: Head,
    pub(crate) config: Value,
    /// None if it is not known.
    pub(crate) fields: Option<FieldsRead>,
    pub(crate) processor: Processor,
}

/// The configuration fields that a model reads and that are in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldsRead {
    /// Their names, sorted; dotted in an object of the configuration.
    pub read: Vec<String>,
    /// The fields that have no effect in this configuration, with the reason. Changing any other
    /// must change an output or make the load fail.
    pub inert: Vec<(&'static str, &'static str)>,
}

/// Classes of transformers; a golden may be of another one than the checkpoint.
struct Classes {
    computed: String,
    saved: String,
    /// The file that names the computed one.
    file: &'static str,
}

/// Describes the checkpoint for an engine that is a process: neither a network is built nor weights
/// are read.
///
/// Where only the native implementation cannot read the configuration or a processor, the fields or
/// the processors are unknown.
///
/// # Errors
///
/// When `config.json` cannot be read, is of another type, or names a class that the type does not
/// have; when the weights are quantized.
pub fn describe(model_type: ModelType, checkpoint: &Checkpoint) -> Result<Description, LoadError> {
    let description = Description::read(model_type, checkpoint)?;
    let fields = native_fields(&description);
    let processor = Processor::open(checkpoint.directory()).unwrap_or_else(Processor::unusable);
    Ok(Description {
        fields,
        processor,
        ..description
    })
}

impl Description {
    /// Without the fields that are read, and without processors.
    pub(crate) fn read(model_type: ModelType, checkpoint: &Checkpoint) -> Result<Self, LoadError> {
        let config = checkpoint.config()?;
        let found = config::model_type(&config);
        if found != model_type.as_str() {
            return Err(LoadError::WrongModelType {
                found: found.to_owned(),
                expected: model_type,
            });
        }
        // First of all that depends on tensors: names, shapes and types of quantized ones would be
        // reported as damage.
        if let Some(quantized) = checkpoint.refused_quantization(&config) {
            return Err(LoadError::Quantized { quantized });
        }
        let Classes {
            computed,
            saved,
            file,
        } = Classes::read(model_type, checkpoint.directory(), &config);
        let head = model_type
            .head(&computed)
            .ok_or_else(|| LoadError::UnsupportedClass {
                class: computed.clone(),
                file,
                model_type,
                supported: model_type.classes().join(", "),
            })?;
        let of_other_class = computed != saved;
        let processor = Processor::default();
        Ok(Self {
            model_type,
            class: computed,
            of_other_class,
            head,
            config,
            fields: None,
            processor,
        })
    }

    /// The `model_type` of the checkpoint.
    pub fn model_type(&self) -> ModelType {
        self.model_type
    }

    /// The transformers class that is computed, for instance `BertForMaskedLM`.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The output that the class computes from the hidden states.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The configuration as it was read.
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// Its limits, its cache, and the effect of padding, as far as the configuration shows them.
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::described(self.model_type, self.head, &self.config)
    }

    /// The account without the heads that the class does not have.
    pub(crate) fn account(&self, account: TensorAccount) -> TensorAccount {
        // The head that the file was saved with is left over when another class is computed; that
        // is not a tensor forgotten.
        if self.of_other_class {
            account.without_other_heads()
        } else {
            account
        }
    }
}

impl Classes {
    fn read(model_type: ModelType, directory: &Path, config: &Value) -> Self {
        let saved =
            config::saved_class(config).map_or_else(|| model_type.base_class(), str::to_owned);
        // First, because one checkpoint can have goldens of another class than the one that saved
        // it.
        match weights::file_metadata(&directory.join(GOLDEN), "model_class") {
            Some(recorded) => Self {
                computed: recorded,
                saved,
                file: GOLDEN,
            },
            None => Self {
                computed: saved.clone(),
                saved,
                file: "config.json",
            },
        }
    }
}

/// The fields that the native implementation reads, or `None` if there is none, or it cannot read
/// this configuration.
#[cfg(feature = "native")]
fn native_fields(description: &Description) -> Option<FieldsRead> {
    use crate::{
        config::{ModelConfig, ParsedConfig, parse},
        definitions::*,
        model_def::ModelDef,
    };
    use testgen_types::for_each_native_type;

    fn fields_of<D: ModelDef>(description: &Description) -> Option<FieldsRead> {
        let name = description.model_type.as_str();
        let ParsedConfig { config, fields } = parse::<D::Config>(name, &description.config).ok()?;
        Some(FieldsRead {
            read: fields,
            inert: config.inert_fields(description.head),
        })
    }

    macro_rules! dispatch {
        ($(
            $architecture:ident $feature:literal recorded_by $recorder:literal {
                $($variant:ident $name:literal $file:ident::$definition:ident $class:literal $heads:tt $fields:tt)*
            }
        )*) => {
            match description.model_type {
                $($(
                    #[cfg(feature = $feature)]
                    ModelType::$variant => fields_of::<$file::$definition>(description),
                )*)*
                _ => None,
            }
        };
    }
    for_each_native_type!(dispatch)
}

/// As above, in a build that has no implementation.
#[cfg(not(feature = "native"))]
fn native_fields(_: &Description) -> Option<FieldsRead> {
    None
}
