//! The building blocks of models, each implemented once.
//!
//! Every block loads itself from a [`Weights`](crate::weights::Weights) path and names its tensors
//! as Hugging Face does.

mod alibi;
mod attention;
mod band;
mod batch_norm;
mod cached_attention;
mod causal_convolution;
mod convolution;
mod convolution_1d;
mod disentangled;
mod embedding;
mod experts;
mod gated_mlp;
mod group_norm;
mod grouped_attention;
mod interpolation;
mod linear;
mod mask;
mod mean;
mod mlp;
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

pub use alibi::Alibi;
pub use attention::{attend, attend_capped, project_heads, split_heads};
pub use batch_norm::{BatchNorm2d, FeatureBatchNorm};
pub use cached_attention::{CachedAttention, CachedAttentionShape};
pub use causal_convolution::{CausalConvolution, Convolved};
pub use convolution::{Conv2d, Conv2dShape};
pub use convolution_1d::{Conv1d, Conv1dShape};
pub use disentangled::{Disentangled, DisentangledShape, DistanceBuckets};
pub use embedding::Embedding;
pub use experts::{EXPERT_NAMES, Experts, ExpertsShape, Mixed};
pub use gated_mlp::GatedMlp;
pub use group_norm::GroupNorm;
pub use grouped_attention::{GroupedAttention, HeadCounts};
pub use interpolation::bicubic;
pub use linear::Linear;
pub use mask::{
    causal_bias, decoder_bias, key_bias, length_bias, masked_mean, padding_bias, padding_factor,
    pair_bias, visible_tokens, window_bias,
};
pub use mean::mean;
pub use mlp::Mlp;
pub use norm::{GroupRmsNorm, LayerNorm, RmsNorm};
pub use positions::{LayerContext, Positions, positions, positions_without_padding};
pub use projections::{ProjectionNames, Projections};
pub use relative_position::{RelativeBias, RelativeBuckets};
pub use rope_parameters::{RopeConfig, RopeFields, RopeParameters, RopeType};
pub use rotary::{Rotary, Rotation};
pub use selective_scan::{Scan, Scanned, softplus};
pub use self_attention::{AttentionNames, AttentionShape, SelfAttention};
pub use soft_cap::soft_cap;
pub use unit_length::unit_length;
pub use zeros::between_zeros;
