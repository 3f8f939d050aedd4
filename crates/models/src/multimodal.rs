//! Language models that read images.

pub(crate) mod llava;
