//! The blocks that models are made of, each once.
//!
//! Every block loads itself from a [`Weights`](crate::weights::Weights) path and names its tensors as Hugging Face does.

mod attention;
mod batch_norm;
mod convolution;
mod embedding;
mod feed_forward;
mod gated_feed_forward;
mod group_norm;
mod grouped_attention;
mod interpolation;
mod joined_gate;
mod linear;
mod mask;
mod mean;
mod norm;
mod projections;
mod relative_position;
mod rope_parameters;
mod rotary;
mod self_attention;
mod unit_length;

pub(crate) use attention::{attend, split_heads};
pub(crate) use batch_norm::{BatchNorm2d, FeatureBatchNorm};
pub(crate) use convolution::{Conv2d, Conv2dShape};
pub(crate) use embedding::Embedding;
pub(crate) use feed_forward::FeedForward;
pub(crate) use gated_feed_forward::GatedFeedForward;
pub(crate) use group_norm::GroupNorm;
pub(crate) use grouped_attention::GroupedAttention;
pub(crate) use interpolation::bicubic;
pub(crate) use joined_gate::JoinedGate;
pub(crate) use linear::Linear;
pub(crate) use mask::{CausalMasks, causal_bias, padding_bias, positions};
pub(crate) use mean::mean;
pub(crate) use norm::{LayerNorm, RmsNorm};
pub(crate) use projections::{ProjectionNames, Projections};
pub(crate) use relative_position::{RelativeBias, RelativeBuckets};
pub(crate) use rope_parameters::{RopeFields, RopeParameters, RopeType};
pub(crate) use rotary::{Rotary, Rotation};
pub(crate) use self_attention::{AttentionNames, AttentionShape, SelfAttention};
pub(crate) use unit_length::unit_length;
