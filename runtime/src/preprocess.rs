//! The way in: text to token ids, images to pixel values, as the checkpoint's own files say.
//!
//! Owns tokenizers and image processors. Does not own what is done with their output (`task`) nor its comparison with
//! goldens (`check`).

mod config_file;
mod error;
mod image;
mod image_config;
mod image_processor;
mod resample;
mod tokenizer;

pub(crate) use config_file::ConfigFile;
pub use error::PreprocessError;
pub use image::Image;
pub use image_processor::ImageProcessor;
pub use tokenizer::{PaddingSide, TextInput, TokenBatch, TokenSpan, TokenizeOptions, Tokenizer};

use crate::generation::GenerationDefaults;
use std::path::Path;

/// Everything that a checkpoint directory says about turning inputs into tensors.
#[derive(Debug, Default)]
pub struct Processor {
    tokenizer: Option<Tokenizer>,
    images: Option<ImageProcessor>,
    generation: GenerationDefaults,
}

impl Processor {
    /// Reads the tokenizer, image processor and generation files in `directory`; what has no file is absent.
    ///
    /// A file that is there and cannot be used is an error that names it, the field and what to do.
    pub fn open(directory: &Path) -> Result<Self, PreprocessError> {
        Ok(Self {
            tokenizer: Tokenizer::open(directory)?,
            images: ImageProcessor::open(directory)?,
            generation: GenerationDefaults::read(directory)?,
        })
    }

    /// The tokenizer, where the checkpoint has one.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// The image processor, where the checkpoint has one.
    pub fn images(&self) -> Option<&ImageProcessor> {
        self.images.as_ref()
    }

    /// What the checkpoint says about generation.
    pub fn generation(&self) -> &GenerationDefaults {
        &self.generation
    }
}
