//! Blocks that models of several architectures with images share.

pub(crate) mod clip_encoder;
pub(crate) mod detection_head;
pub(crate) mod image_classifier;
pub(crate) mod vision_transformer;
