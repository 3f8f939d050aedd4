//! The configuration of T5.

use crate::config::ModelConfig;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{backend::Activation, layer::RelativeBuckets};
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct T5Config {
    pub(super) vocab_size: usize,
    pub(super) d_model: usize,
    pub(super) d_kv: usize,
    pub(super) d_ff: usize,
    pub(super) num_layers: usize,
    pub(super) num_decoder_layers: Option<usize>,
    pub(super) num_heads: usize,
    relative_attention_num_buckets: usize,
    relative_attention_max_distance: usize,
    pub(super) layer_norm_epsilon: f64,
    feed_forward_proj: String,
    /// The parts of `feed_forward_proj`, which newer files also have. They take precedence.
    dense_act_fn: Option<Activation>,
    is_gated_act: Option<bool>,
    /// Newer files spell it out of `tie_word_embeddings`, which scales the hidden states and no
    /// longer ties anything.
    scale_decoder_outputs: Option<bool>,
    tie_word_embeddings: Option<bool>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The feed forward of a layer.
#[derive(Clone, Copy)]
pub(super) struct FeedForward {
    /// Whether it has a gate.
    pub(super) gated: bool,
    pub(super) activation: Activation,
}

impl T5Config {
    /// From `feed_forward_proj`, or from the two newer fields in place of it.
    pub(super) fn feed_forward(&self) -> Result<FeedForward, String> {
        let (gated, word) = match self.feed_forward_proj.split_once('-') {
            // `T5Config` reads the name of the original code, whose GELU was the approximation.
            Some(("gated", "gelu")) => (true, "gelu_new"),
            Some(("gated", word)) => (true, word),
            Some(_) => {
                return Err(format!(
                    "`feed_forward_proj` {:?} has an unknown form",
                    self.feed_forward_proj
                ));
            }
            None => (false, self.feed_forward_proj.as_str()),
        };
        // transformers sets attributes of the file after it has split `feed_forward_proj`.
        let gated = self.is_gated_act.unwrap_or(gated);
        if let Some(activation) = self.dense_act_fn {
            return Ok(FeedForward { gated, activation });
        }
        let activation = serde_json::from_value(Value::String(word.to_owned()));
        let activation = activation.map_err(|error| format!("`feed_forward_proj`: {error}"))?;
        Ok(FeedForward { gated, activation })
    }

    pub(super) fn scale(&self) -> f64 {
        // Saved by transformers 5, which always writes true as `tie_word_embeddings`.
        let scaled = self
            .scale_decoder_outputs
            .unwrap_or(self.tie_word_embeddings != Some(false));
        if scaled {
            (self.d_model as f64).powf(-0.5)
        } else {
            1.0
        }
    }

    pub(super) fn buckets(&self, bidirectional: bool) -> RelativeBuckets {
        let (count, max_distance) = (
            self.relative_attention_num_buckets,
            self.relative_attention_max_distance,
        );
        RelativeBuckets {
            bidirectional,
            count,
            max_distance,
        }
    }
}

impl ModelConfig for T5Config {
    /// `n_positions` is the length of the pretraining.
    // Positions are relative and have no limit.
    const INERT: &'static [&'static str] = &["is_encoder_decoder", "n_positions"];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let names = [
            "relative_attention_num_buckets",
            "relative_attention_max_distance",
        ];
        self.feed_forward()?;
        [true, false]
            .into_iter()
            // Both stacks: an encoder divides the buckets between two directions, a decoder has one.
            .try_for_each(|both| self.buckets(both).validate(names[0], names[1]))
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = Vec::new();
        let without_lm_head = head != Head::ConditionalGeneration;
        if self.scale_decoder_outputs.is_some() || without_lm_head {
            fields.push((
                "tie_word_embeddings",
                "whether there is an `lm_head` decides, and who scales says so itself",
            ));
        }
        if without_lm_head {
            fields.push(("scale_decoder_outputs", "only language models scale"));
        }
        if head == Head::Encoder {
            fields.push(("num_decoder_layers", "an encoder alone has no decoder"));
        }
        if self.dense_act_fn.is_some() && self.is_gated_act.is_some() {
            fields.push((
                "feed_forward_proj",
                "`dense_act_fn` and `is_gated_act` say it",
            ));
        }
        fields
    }
}
