//! The way in: text to token ids, images to pixel values, as the checkpoint's own files say.
//!
//! Owns tokenizers and image processors. Does not own what is done with their output (`task`) nor its comparison with
//! goldens (`check`).

mod error;
mod image;
mod image_processor;
mod tokenizer;

pub use error::PreprocessError;
pub use image::Image;
pub use image_processor::ImageProcessor;
pub use tokenizer::{PaddingSide, TokenSpan, Tokenizer};

use std::path::Path;

/// Everything that a checkpoint directory says about turning inputs into tensors.
#[derive(Debug, Default)]
pub struct Processor {
    tokenizer: Option<Tokenizer>,
    images: Option<ImageProcessor>,
}

impl Processor {
    /// Reads the tokenizer and image processor files in `directory`; what has no file is absent.
    ///
    /// A file that is there and cannot be used is an error that names it, the field and what to do.
    pub fn open(directory: &Path) -> Result<Self, PreprocessError> {
        Ok(Self { tokenizer: Tokenizer::open(directory)?, images: ImageProcessor::open(directory)? })
    }

    /// The tokenizer, where the checkpoint has one.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// The image processor, where the checkpoint has one.
    pub fn images(&self) -> Option<&ImageProcessor> {
        self.images.as_ref()
    }
}
