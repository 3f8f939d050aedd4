//! A model on its device, behind one type.

use super::{
    class::Head,
    forward::{Forward, ForwardError, Session},
    network::{Pooling, Run},
};
use crate::{Arrays, preprocess::Processor};
use serde_json::Value;
use std::fmt;
use testgen_contract::Precision;

/// Which tensors of the checkpoint were read.
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
    pub(super) fn new(read: Vec<String>, unread: Vec<String>) -> Self {
        let ignored = |name: &String| IGNORED.iter().any(|end| name.ends_with(end));
        Self { read, unused: unread.into_iter().filter(|name| !ignored(name)).collect() }
    }

    /// Leaves out the heads that the checkpoint has and the class that is computed does not.
    pub(super) fn without_other_heads(mut self) -> Self {
        let of_head =
            |name: &String| HEADS.iter().any(|head| name.starts_with(head) || name.contains(&format!(".{head}")));
        self.unused.retain(|name| !of_head(name));
        self
    }
}

/// A model on its device.
pub struct Model {
    pub(super) run: Box<dyn Run>,
    pub(super) class: String,
    pub(super) head: Head,
    pub(super) config: Value,
    pub(super) fields: Vec<String>,
    pub(super) without_effect: Vec<(&'static str, &'static str)>,
    pub(super) tensors: TensorAccount,
    pub(super) precision: Precision,
    pub(super) processor: Processor,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("class", &self.class).field("precision", &self.precision).finish_non_exhaustive()
    }
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

    /// What the class computes from the hidden states.
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
        &self.without_effect
    }

    /// Which tensors were read.
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

    /// The longest sequence that the model has positions for; none when there is no limit of its own.
    pub fn max_positions(&self) -> Option<usize> {
        self.run.max_positions()
    }

    /// The longest sequence for which steps with a cache must equal the whole sequence at once; none for any length.
    pub fn cacheable_length(&self) -> Option<usize> {
        self.run.cacheable_length()
    }

    /// Whether a token of a text sees only those before it.
    pub fn causal(&self) -> bool {
        self.run.causal()
    }

    /// Which token the pooled outputs of a text are read at.
    pub(crate) fn pooling(&self) -> Pooling {
        self.run.pooling()
    }
}

#[cfg(test)]
impl Model {
    /// The model with its network replaced, for tests of what checks make of a faulty one.
    pub(crate) fn with_run(mut self, replace: impl FnOnce(Box<dyn Run>) -> Box<dyn Run>) -> Self {
        self.run = replace(self.run);
        self
    }

    /// The model as if it read one field alone, the first that has an effect.
    pub(crate) fn with_one_field(mut self) -> Self {
        let has_effect =
            |field: &String| self.without_effect.iter().all(|(inert, _)| !inert.starts_with(field.as_str()));
        self.fields = self.fields.iter().find(|field| has_effect(field)).cloned().into_iter().collect();
        self
    }
}
