//! A model on its device, independent of backend and type.

use crate::{capabilities::Capabilities, erased_model::ErasedModel};
use serde_json::Value;
use std::fmt;
use testgen_nn::{
    array::Arrays,
    forward::{Forward, ForwardError, Session},
};
use testgen_processing::processor::Processor;
use testgen_types::{Head, ModelType, Precision};

/// The tensors of the checkpoint that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorAccount {
    /// Read, by their names in the file, sorted.
    pub read: Vec<String>,
    /// In the file, never asked for, and not among those that transformers ignores, too; sorted.
    pub unused: Vec<String>,
}

/// The ends of names of buffers that older releases saved and transformers does not read.
const IGNORED: &[&str] = &[
    "attention.bias",
    "attention.masked_bias",
    "attn.bias",
    "attn.masked_bias",
    "num_batches_tracked",
    "position_ids",
    "relative_position_index",
    "rotary_emb.inv_freq",
];

/// The modules of heads, beside the base model.
const HEADS: &[&str] = &[
    "bbox_predictor.",
    "class_labels_classifier.",
    "classification_head.",
    "classifier.",
    "cls.",
    "cls_classifier.",
    "discriminator_predictions.",
    "distillation_classifier.",
    "decoder.bias",
    "decoder.weight",
    "generator_lm_head.",
    "generator_predictions.",
    "head.dense.",
    "head.norm.",
    "layer_weights",
    "lm_head.",
    "lm_predictions.",
    "mask_predictions.",
    "pooler.",
    "pre_classifier.",
    "predictions.",
    "projector.",
    "qa_outputs.",
    "score.",
    "sop_classifier.",
    "vocab_layer_norm.",
    "vocab_projector.",
    "vocab_transform.",
];

impl TensorAccount {
    pub(crate) fn new(read: Vec<String>, unread: Vec<String>) -> Self {
        let ignored = |name: &String| IGNORED.iter().any(|end| name.ends_with(end));
        Self { read, unused: unread.into_iter().filter(|name| !ignored(name)).collect() }
    }

    /// Leaves out the heads that the checkpoint has and the class that is computed does not.
    pub(crate) fn without_other_heads(mut self) -> Self {
        let of_head =
            |name: &String| HEADS.iter().any(|head| name.starts_with(head) || name.contains(&format!(".{head}")));
        self.unused.retain(|name| !of_head(name));
        self
    }
}

/// A model on its device.
pub struct Model {
    pub(crate) erased: Box<dyn ErasedModel>,
    pub(crate) model_type: ModelType,
    pub(crate) class: String,
    /// Whether the checkpoint was saved by another class.
    pub(crate) of_other_class: bool,
    pub(crate) head: Head,
    pub(crate) config: Value,
    pub(crate) fields: Vec<String>,
    pub(crate) inert_fields: Vec<(&'static str, &'static str)>,
    pub(crate) tensors: TensorAccount,
    pub(crate) precision: Precision,
    pub(crate) processor: Processor,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("class", &self.class).field("precision", &self.precision).finish_non_exhaustive()
    }
}

impl Model {
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
        self.erased.session()?.ok_or_else(|| ForwardError::NoCache { class: self.class.clone() })
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

    /// The configuration fields that the model reads and that are in the file, sorted.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// Those of [`Model::fields`] that have no effect in this configuration, with the reason. Changing any other must
    /// change an output or make the load fail.
    pub fn inert_fields(&self) -> &[(&'static str, &'static str)] {
        &self.inert_fields
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
        &self.processor
    }

    /// Its limits, its cache, and what padding may change.
    pub fn capabilities(&self) -> Capabilities {
        self.erased.capabilities()
    }
}

impl Model {
    /// The model with its network replaced: by an engine, or by a faulty one in tests of checks.
    pub fn with_network(mut self, replace: impl FnOnce(Box<dyn ErasedModel>) -> Box<dyn ErasedModel>) -> Self {
        self.erased = replace(self.erased);
        self
    }

    /// The account of tensors that something else has read, without those that this model does not count either.
    pub fn account(&self, read: Vec<String>, unread: Vec<String>) -> TensorAccount {
        let account = TensorAccount::new(read, unread);
        if self.of_other_class { account.without_other_heads() } else { account }
    }

    /// The model with another account of its tensors.
    pub fn with_tensors(mut self, tensors: TensorAccount) -> Self {
        self.tensors = tensors;
        self
    }

    /// The model as if it read one field alone, the first that has an effect.
    pub fn with_one_field(mut self) -> Self {
        let has_effect = |field: &String| self.inert_fields.iter().all(|(inert, _)| !inert.starts_with(field.as_str()));
        self.fields = self.fields.iter().find(|field| has_effect(field)).cloned().into_iter().collect();
        self
    }
}
