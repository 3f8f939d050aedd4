//! Image classifiers and backbones.

pub(crate) mod convnext;
pub(crate) mod dinov2;
pub(crate) mod resnet;
pub(crate) mod swin;
pub(crate) mod swin_layer;
pub(crate) mod vit;
