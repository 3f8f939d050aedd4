//! The blocks that models are made of, each once.
//!
//! Every block loads itself from a [`Weights`](crate::weights::Weights) path and names its tensors as Hugging Face does.

mod alibi;
mod attention;
mod batch_norm;
mod causal_convolution;
mod convolution;
mod embedding;
mod experts;
mod feed_forward;
mod gated_feed_forward;
mod grouped_attention;
mod linear;
mod mask;
mod norm;
mod projections;
mod rope_parameters;
mod rotary;
mod selective_scan;
mod self_attention;
mod soft_cap;

pub(crate) use alibi::Alibi;
pub(crate) use attention::{attend, attend_capped, split_heads};
pub(crate) use batch_norm::BatchNorm2d;
pub(crate) use causal_convolution::CausalConvolution;
pub(crate) use convolution::{Conv2d, Conv2dShape};
pub(crate) use embedding::Embedding;
pub(crate) use experts::{EXPERT_NAMES, Experts, ExpertsShape, Routing};
pub(crate) use feed_forward::FeedForward;
pub(crate) use gated_feed_forward::GatedFeedForward;
pub(crate) use grouped_attention::GroupedAttention;
pub(crate) use linear::Linear;
pub(crate) use mask::{CausalMasks, causal_bias, padding_bias, positions, positions_without_padding, visible_tokens};
pub(crate) use norm::{GroupRmsNorm, LayerNorm, RmsNorm};
pub(crate) use projections::{ProjectionNames, Projections};
pub(crate) use rope_parameters::{RopeFields, RopeParameters, RopeType};
pub(crate) use rotary::{Rotary, Rotation};
pub(crate) use selective_scan::{Scan, softplus};
pub(crate) use self_attention::{AttentionNames, AttentionShape, SelfAttention};
pub(crate) use soft_cap::soft_cap;
