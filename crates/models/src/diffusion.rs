//! The common parts of diffusers' models: blocks of convolutions, transformers over pixels, time
//! steps.

pub(crate) mod autoencoder_kl;
mod blocks;
mod time;
mod transformer;
pub(crate) mod unet;

pub(crate) use blocks::{
    Downsample, ResnetBlock, ResnetShape, Upsample, convolution, doubled, halved,
};
pub(crate) use time::{TimestepEmbedding, Waves};
pub(crate) use transformer::{SpatialTransformer, TransformerShape};
