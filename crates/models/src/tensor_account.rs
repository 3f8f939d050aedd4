//! The account of the tensors of a checkpoint: the tensors that were read, and the tensors that
//! should have been.

/// The tensors of the checkpoint that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorAccount {
    /// Read, by their names in the file, sorted.
    pub read: Vec<String>,
    /// In the file, never asked for, and not among the tensors that transformers ignores, too;
    /// sorted.
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
    // With the names of its tensors, because the decoder of an encoder-decoder is not a head.
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
        Self {
            read,
            unused: unread
                .into_iter()
                .filter(|name| !IGNORED.iter().any(|end| name.ends_with(end)))
                .collect(),
        }
    }

    /// Leaves out the heads that the checkpoint has and the class that is computed does not.
    pub(crate) fn without_other_heads(mut self) -> Self {
        self.unused.retain(|name| {
            !HEADS
                .iter()
                // Also below a prefix, as `bert.pooler.`.
                .any(|head| name.starts_with(head) || name.contains(&format!(".{head}")))
        });
        self
    }
}
