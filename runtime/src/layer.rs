//! The blocks that models are made of, each once.
//!
//! Every block loads itself from a [`Weights`](crate::weights::Weights) path and names its tensors as Hugging Face does.

mod attention;
mod batch_norm;
mod convolution;
mod convolution_1d;
mod embedding;
mod feed_forward;
mod key_value_attention;
mod linear;
mod mask;
mod norm;
mod relative_position;
mod rope_parameters;
mod rotary;
mod self_attention;

pub(crate) use attention::{attend, split_heads};
pub(crate) use batch_norm::BatchNorm2d;
pub(crate) use convolution::{Conv2d, Conv2dShape};
pub(crate) use convolution_1d::{Conv1d, Conv1dShape};
pub(crate) use embedding::Embedding;
pub(crate) use feed_forward::FeedForward;
pub(crate) use key_value_attention::{KeyValueAttention, KeyValueShape};
pub(crate) use linear::Linear;
pub(crate) use mask::{causal_bias, decoder_bias, length_bias, padding_bias, positions};
pub(crate) use norm::{LayerNorm, RmsNorm};
pub(crate) use relative_position::{RelativeBias, RelativeBuckets};
pub(crate) use rope_parameters::{RopeFields, RopeParameters};
pub(crate) use rotary::{Rotary, Rotation};
pub(crate) use self_attention::{AttentionNames, AttentionShape, SelfAttention};
