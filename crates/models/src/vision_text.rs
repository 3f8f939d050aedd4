//! Dual encoders of images and texts.

pub(crate) mod clip;
pub(crate) mod dual_encoder;
pub(crate) mod siglip;
