//! A model on its device, independent of backend and type.

use crate::{
    capabilities::Capabilities,
    description::{Description, FieldsRead},
    erased_model::ErasedModel,
    tensor_account::TensorAccount,
};
use serde_json::Value;
use std::fmt;
use testgen_nn::{
    array::Arrays,
    forward::{Forward, ForwardError, Session},
    timing::{CallTimes, CallsByShape, LayerTimes, TimedCall},
};
use testgen_processing::processor::Processor;
use testgen_types::{Head, ModelType, Precision, Repetitions};

/// A model on its device.
pub struct Model {
    pub(crate) description: Description,
    pub(crate) erased: Box<dyn ErasedModel>,
    pub(crate) tensors: TensorAccount,
    pub(crate) precision: Precision,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("class", &self.class())
            .field("precision", &self.precision)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// The model of `description` that something else than burn computes, which has read some
    /// tensors of the checkpoint, and not others.
    pub fn of_engine(
        description: Description,
        erased: Box<dyn ErasedModel>,
        precision: Precision,
        [read, unread]: [Vec<String>; 2],
    ) -> Self {
        let tensors = description.account(TensorAccount::new(read, unread));
        Self {
            description,
            erased,
            tensors,
            precision,
        }
    }

    /// Computes every output of the transformers class.
    pub fn forward(&self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        self.erased.forward(inputs, false)
    }

    /// As [`Model::forward`], with the hidden states.
    pub fn forward_traced(&self, inputs: &Arrays) -> Result<Forward, ForwardError> {
        self.erased.forward(inputs, true)
    }

    /// A fresh sequence with a key-value cache.
    pub fn session(&self) -> Result<Box<dyn Session + '_>, ForwardError> {
        self.erased.session()?.ok_or_else(|| ForwardError::NoCache {
            class: self.class().to_owned(),
        })
    }

    /// The times of a call that is repeated. Its outputs stay on the device, which is idle before
    /// and after each call.
    pub fn time(
        &self,
        call: TimedCall<'_>,
        repetitions: Repetitions,
    ) -> Result<CallTimes, ForwardError> {
        self.erased.time(call, repetitions)
    }

    /// The times of the layers in forward calls, or `None` if they are not streamed.
    pub fn time_layers(
        &self,
        inputs: &Arrays,
        repetitions: Repetitions,
    ) -> Result<Option<Vec<LayerTimes>>, ForwardError> {
        self.erased.time_layers(inputs, repetitions)
    }

    /// The times of the products and convolutions in each of repeated forward calls, or `None` if
    /// what computes the model does not know them.
    pub fn time_calls(
        &self,
        inputs: &Arrays,
        repetitions: Repetitions,
    ) -> Result<Option<Vec<CallsByShape>>, ForwardError> {
        self.erased.time_calls(inputs, repetitions)
    }

    /// The `model_type` of the checkpoint.
    pub fn model_type(&self) -> ModelType {
        self.description.model_type
    }

    /// The transformers class that is computed, for instance `BertForMaskedLM`.
    pub fn class(&self) -> &str {
        &self.description.class
    }

    /// The output that the class computes from the hidden states.
    pub fn head(&self) -> Head {
        self.description.head
    }

    /// The configuration as it was read.
    pub fn config(&self) -> &Value {
        &self.description.config
    }

    /// The configuration fields that the model reads, or `None` if that is not known.
    pub fn fields(&self) -> Option<&FieldsRead> {
        self.description.fields.as_ref()
    }

    /// The tensors that were read.
    pub fn tensors(&self) -> &TensorAccount {
        &self.tensors
    }

    /// The type that the model computes in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The tokenizer and the image processor of the checkpoint.
    pub fn processor(&self) -> &Processor {
        &self.description.processor
    }

    /// Its limits, its cache, and what padding may change.
    pub fn capabilities(&self) -> Capabilities {
        self.erased.capabilities()
    }

    /// The model with its network replaced, by a faulty one in tests of checks.
    pub fn with_network(
        mut self,
        replace: impl FnOnce(Box<dyn ErasedModel>) -> Box<dyn ErasedModel>,
    ) -> Self {
        self.erased = replace(self.erased);
        self
    }

    /// The model as if it read one field alone, the first that has an effect.
    pub fn with_one_field(mut self) -> Self {
        if let Some(FieldsRead { read, inert }) = &mut self.description.fields {
            *read = read
                .iter()
                .find(|field| {
                    inert
                        .iter()
                        // By the start, because an inert name can be a field inside this one.
                        .all(|(inert, _)| !inert.starts_with(field.as_str()))
                })
                .cloned()
                .into_iter()
                .collect();
        }
        self
    }
}
