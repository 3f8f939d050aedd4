//! The `config.json` of PatchTST.

use super::scaler::Scaler;
use crate::config::{ModelConfig, divides};
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::backend::Activation;
use testgen_types::Head;

/// The `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PatchTstConfig {
    pub(super) num_input_channels: usize,
    pub(super) context_length: usize,
    pub(super) patch_length: usize,
    pub(super) patch_stride: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) d_model: usize,
    pub(super) num_attention_heads: usize,
    pub(super) share_embedding: bool,
    pub(super) channel_attention: bool,
    pub(super) ffn_dim: usize,
    pub(super) norm_type: NormType,
    pub(super) norm_eps: f64,
    pub(super) bias: bool,
    pub(super) activation_function: Activation,
    pub(super) pre_norm: bool,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) positional_encoding_type: TableInit,
    pub(super) use_cls_token: bool,
    pub(super) share_projection: bool,
    pub(super) scaling: Scaler,
    pub(super) pooling_type: Option<PatchPooling>,
    #[expect(dead_code, reason = "read so that any other value is an error")]
    pub(super) loss: Loss,
    pub(super) prediction_length: usize,
    pub(super) num_targets: usize,
    pub(super) output_range: Option<[f32; 2]>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How the sublayers are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NormType {
    BatchNorm,
    LayerNorm,
}

/// The initialisation of the table of positions; its values are in the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TableInit {
    SinCos,
    Random,
}

/// How patches become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PatchPooling {
    Mean,
    Max,
}

/// The kind of outputs: numbers. Distributions (`nll`) are not implemented, and serde rejects them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Loss {
    Mse,
}

impl PatchTstConfig {
    /// The number of patches; what does not fill one is cut off in front.
    pub(super) fn patches(&self) -> usize {
        (self.context_length - self.patch_length) / self.patch_stride + 1
    }

    /// Whether a channel is one vector before the head reads it.
    pub(super) fn pooled(&self) -> bool {
        self.use_cls_token || self.pooling_type.is_some()
    }
}

impl ModelConfig for PatchTstConfig {
    /// Masking is of the pretraining class, and the other heads turn it off; samples are drawn from
    /// distributions alone.
    const INERT: &'static [&'static str] = &[
        "channel_consistent_masking",
        "distribution_output",
        "do_mask_input",
        "init_std",
        "mask_type",
        "mask_value",
        "num_forecast_mask_patches",
        "num_parallel_samples",
        "random_mask_ratio",
        "unmasked_channel_indices",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        divides(
            "d_model",
            self.d_model,
            "num_attention_heads",
            self.num_attention_heads,
        )?;
        // `patches` subtracts one of them and divides by the other.
        if self.patch_stride == 0
            || self.patch_length == 0
            // `PatchTSTPatchify` raises for a series of a single patch.
            || self.context_length <= self.patch_length
        {
            return Err(
                "`patch_stride` and `patch_length` are at least 1, and `context_length` above it"
                    .to_owned(),
            );
        }
        match self.share_projection {
            true => Ok(()),
            false => Err(
                "`share_projection` is false, which transformers 5 cannot compute either"
                    .to_owned(),
            ),
        }
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("positional_encoding_type", "the table is in the checkpoint")];
        let other = "another head reads it";
        match head {
            Head::Prediction => fields.extend([("num_targets", other), ("output_range", other)]),
            Head::Regression => fields.push(("prediction_length", other)),
            _ => fields.extend([("prediction_length", other), ("output_range", other)]),
        }
        if head != Head::Prediction {
            fields.push((
                "share_projection",
                "only the forecast's head has one projection for each channel",
            ));
        }
        if self.use_cls_token {
            fields.push(("pooling_type", "the class token is read instead"));
        }
        fields
    }
}
