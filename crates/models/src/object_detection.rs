//! Object detectors.

pub(crate) mod detr;
pub(crate) mod detr_layer;
pub(crate) mod detr_positions;
pub(crate) mod yolos;
