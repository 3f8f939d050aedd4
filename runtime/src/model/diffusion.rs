//! What the models of diffusers have in common: blocks of convolutions, transformers over pixels, steps in time.

mod blocks;
mod time;
mod transformer;

pub(super) use blocks::{Downsample, ResnetBlock, ResnetShape, Upsample, convolution, doubled, halved};
pub(super) use time::{TimestepEmbedding, Waves};
pub(super) use transformer::{SpatialTransformer, TransformerShape};
