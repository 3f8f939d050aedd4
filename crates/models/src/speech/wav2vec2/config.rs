//! The configuration of wav2vec 2.0 and HuBERT.

use crate::config::ModelConfig;
use serde::Deserialize;
use serde_json::{Map, Value};
use testgen_nn::{backend::Activation, layer::Conv1dShape};
use testgen_types::Head;

/// The `config.json` of both types.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Wav2Vec2Config {
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) hidden_act: Activation,
    pub(super) layer_norm_eps: f64,
    pub(super) feat_extract_norm: FeatureNorm,
    pub(super) feat_extract_activation: Activation,
    conv_dim: Vec<usize>,
    conv_stride: Vec<usize>,
    conv_kernel: Vec<usize>,
    pub(super) conv_bias: bool,
    num_feat_extract_layers: Option<usize>,
    pub(super) num_conv_pos_embeddings: usize,
    pub(super) num_conv_pos_embedding_groups: usize,
    pub(super) do_stable_layer_norm: bool,
    /// Of HuBERT alone.
    pub(super) feat_proj_layer_norm: bool,
    pub(super) classifier_proj_size: usize,
    pub(super) use_weighted_layer_sum: bool,
    /// The inner width of the adapters; only stable layers have them.
    adapter_attn_dim: Option<usize>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The norm after the convolutions over samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FeatureNorm {
    /// A norm over time for each channel, after the first.
    Group,
    /// A norm over channels after each.
    Layer,
}

impl Wav2Vec2Config {
    /// The convolutions over samples; the first reads one channel.
    pub(super) fn convolutions(&self) -> Vec<Conv1dShape> {
        let inner = std::iter::once(1).chain(self.conv_dim.iter().copied());
        let sizes = self
            .conv_dim
            .iter()
            .zip(&self.conv_kernel)
            .zip(&self.conv_stride);
        inner
            .zip(sizes)
            .map(|(inner, ((&out, &kernel), &stride))| Conv1dShape {
                channels: [inner, out],
                kernel,
                stride,
                // Nothing is added at the ends, so that the last samples may be in no frame.
                padding: 0,
                groups: 1,
            })
            .collect()
    }

    /// The inner width of the adapters, where layers have them.
    pub(super) fn adapter(&self) -> Option<usize> {
        self.adapter_attn_dim.filter(|_| self.do_stable_layer_norm)
    }

    /// The width of what the convolutions give.
    pub(super) fn feature_width(&self) -> usize {
        // Never the default: `validate` refuses a model without convolutions.
        self.conv_dim.last().copied().unwrap_or(1)
    }
}

impl ModelConfig for Wav2Vec2Config {
    /// Fields that only pretraining, training, speaker verification and the adapter after the last
    /// layer read; `add_adapter` itself is rejected.
    const INERT: &'static [&'static str] = &[
        "adapter_kernel_size",
        "adapter_stride",
        "apply_spec_augment",
        "codevector_dim",
        "contrastive_logits_temperature",
        "ctc_loss_reduction",
        "ctc_zero_infinity",
        "diversity_loss_weight",
        "mask_channel_length",
        "mask_channel_min_space",
        "mask_channel_other",
        "mask_channel_prob",
        "mask_channel_selection",
        "mask_feature_length",
        "mask_feature_min_masks",
        "mask_feature_prob",
        "mask_time_length",
        "mask_time_min_masks",
        "mask_time_min_space",
        "mask_time_other",
        "mask_time_prob",
        "mask_time_selection",
        "num_adapter_layers",
        "num_codevector_groups",
        "num_codevectors_per_group",
        "num_negatives",
        "output_hidden_size",
        "proj_codevector_dim",
        "tdnn_dilation",
        "tdnn_dim",
        "tdnn_kernel",
        "xvector_output_dim",
    ];

    fn rest(&self) -> &Map<String, Value> {
        &self.rest
    }

    fn validate(&self) -> Result<(), String> {
        let layers = self.conv_dim.len();
        let named = self.num_feat_extract_layers.unwrap_or(layers);
        if [self.conv_stride.len(), self.conv_kernel.len(), named] != [layers; 3] || layers == 0 {
            let problem = "`conv_dim`, `conv_stride`, `conv_kernel` and `num_feat_extract_layers` name other numbers";
            return Err(format!("{problem} of convolutions"));
        }
        if self.conv_stride.contains(&0)
            || self.conv_kernel.contains(&0)
            || self.num_conv_pos_embeddings == 0
        {
            return Err("a convolution has no kernel or no stride".to_owned());
        }
        if self.adapter() == Some(0) {
            return Err(
                "`adapter_attn_dim` is 0; leave it out where layers have no adapters".to_owned(),
            );
        }
        let divides =
            |name, part| crate::config::divides("hidden_size", self.hidden_size, name, part);
        divides("num_attention_heads", self.num_attention_heads)?;
        divides(
            "num_conv_pos_embedding_groups",
            self.num_conv_pos_embedding_groups,
        )
    }

    fn inert_fields(&self, head: Head) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![];
        if !self.do_stable_layer_norm {
            fields.push((
                "adapter_attn_dim",
                "only layers of `do_stable_layer_norm` have adapters",
            ));
        }
        if head != Head::Ctc {
            fields.push(("vocab_size", "only the head over frames has tokens"));
        }
        if head != Head::SequenceClassification {
            fields.push(("classifier_proj_size", "only classifiers project"));
            fields.push(("use_weighted_layer_sum", "only classifiers weigh layers"));
        }
        fields
    }
}
