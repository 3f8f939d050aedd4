//! Splits a request of several parts for handlers.

use testgen_nn::array::{Array, Arrays};
use testgen_processing::{generation::GenerationControls, image::Image};

/// Prompts with images between the words.
pub(in crate::task) struct ImagePrompts {
    pub(in crate::task) images: Vec<Image>,
    pub(in crate::task) prompts: Vec<String>,
    pub(in crate::task) controls: GenerationControls,
}

/// Noise to be turned into latents.
pub(in crate::task) struct Denoising {
    /// [batch, channels, height, width].
    pub(in crate::task) noise: Array,
    pub(in crate::task) condition: Arrays,
    /// The number of steps.
    pub(in crate::task) steps: usize,
}
