//! The blocks that models are made of, each once.
//!
//! Every block loads itself from a [`Weights`](crate::weights::Weights) path and names its tensors as Hugging Face does.

mod alibi;
mod attention;
mod batch_norm;
mod causal_convolution;
mod convolution;
mod convolution_1d;
mod disentangled;
mod embedding;
mod experts;
mod feed_forward;
mod gated_feed_forward;
mod group_norm;
mod grouped_attention;
mod interpolation;
mod key_value_attention;
mod linear;
mod mask;
mod mean;
mod norm;
mod positions;
mod projections;
mod relative_position;
mod rope_parameters;
mod rotary;
mod selective_scan;
mod self_attention;
mod soft_cap;
mod unit_length;
mod zeros;

pub(crate) use alibi::Alibi;
pub(crate) use attention::{attend, attend_capped, split_heads};
pub(crate) use batch_norm::{BatchNorm2d, FeatureBatchNorm};
pub(crate) use causal_convolution::CausalConvolution;
pub(crate) use convolution::{Conv2d, Conv2dShape};
pub(crate) use convolution_1d::{Conv1d, Conv1dShape};
pub(crate) use disentangled::{Disentangled, DisentangledShape, DistanceBuckets};
pub(crate) use embedding::Embedding;
pub(crate) use experts::{EXPERT_NAMES, Experts, ExpertsShape, Routing};
pub(crate) use feed_forward::FeedForward;
pub(crate) use gated_feed_forward::GatedFeedForward;
pub(crate) use group_norm::GroupNorm;
pub(crate) use grouped_attention::GroupedAttention;
pub(crate) use interpolation::bicubic;
pub(crate) use key_value_attention::{KeyValueAttention, KeyValueShape};
pub(crate) use linear::Linear;
pub(crate) use mask::{
    causal_bias, decoder_bias, key_bias, length_bias, masked_mean, padding_bias, padding_factor, pair_bias,
    visible_tokens, window_bias,
};
pub(crate) use mean::mean;
pub(crate) use norm::{GroupRmsNorm, LayerNorm, RmsNorm};
pub(crate) use positions::{Positions, View, positions, positions_without_padding};
pub(crate) use projections::{ProjectionNames, Projections};
pub(crate) use relative_position::{RelativeBias, RelativeBuckets};
pub(crate) use rope_parameters::{RopeConfig, RopeFields, RopeParameters, RopeType};
pub(crate) use rotary::{Rotary, Rotation};
pub(crate) use selective_scan::{Scan, softplus};
pub(crate) use self_attention::{AttentionNames, AttentionShape, SelfAttention};
pub(crate) use soft_cap::soft_cap;
pub(crate) use unit_length::unit_length;
pub(crate) use zeros::between_zeros;
