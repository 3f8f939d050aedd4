//! From images to pixel values, as `preprocessor_config.json` says.

use super::{Image, PreprocessError};
use crate::Arrays;
use std::path::Path;

/// Turns images into `pixel_values` as the processors of ViT, ConvNeXt and ResNet do.
#[derive(Debug)]
pub struct ImageProcessor {}

impl ImageProcessor {
    /// Reads `preprocessor_config.json` in `directory`, or gives none where there is no such file.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        let _ = directory;
        Ok(None)
    }

    /// `pixel_values` [batch, 3, height, width].
    pub fn process(&self, images: &[Image]) -> Result<Arrays, PreprocessError> {
        let _ = images;
        unimplemented!()
    }
}
