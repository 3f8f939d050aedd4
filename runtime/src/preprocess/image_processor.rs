//! From images to pixel values, as `preprocessor_config.json` says.

use super::{
    Image, PreprocessError,
    image_config::{self, ImageConfig, Resize},
    resample::{Filter, resize},
};
use crate::{Array, Arrays};
use std::{borrow::Cow, path::Path};

/// The side from which on ConvNeXT's processor stops cropping.
const WARPED_FROM: usize = 384;

/// Turns images into `pixel_values` as transformers does with its Pillow backend, bit for bit.
///
/// Follows `PilBackend` and `ConvNextImageProcessorPil` (transformers 5): resize in 8 bits, crop, rescale in f64 and round
/// to f32, normalise in f32.
#[derive(Debug)]
pub struct ImageProcessor {
    config: ImageConfig,
}

impl ImageProcessor {
    /// Reads the files in `directory`, or gives none where there is no image processor.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        Ok(image_config::read(directory)?.map(|config| Self { config }))
    }

    /// `pixel_values` [batch, 3, height, width]. All images must come out in one size.
    pub fn process(&self, images: &[Image]) -> Result<Arrays, PreprocessError> {
        let mut values = Vec::new();
        let mut first = None;
        for (index, image) in images.iter().enumerate() {
            let image = self.shaped(image)?;
            let found = (image.height(), image.width());
            let first = *first.get_or_insert(found);
            if found != first {
                return Err(PreprocessError::UnequalImages { index, found, first });
            }
            self.append_values(&image, &mut values);
        }
        let (height, width) = first.unwrap_or_default();
        let pixels = Array::floats([images.len(), 3, height, width], values);
        Ok(Arrays::from([("pixel_values".to_owned(), pixels)]))
    }

    /// The image resized and cropped.
    fn shaped<'a>(&self, image: &'a Image) -> Result<Cow<'a, Image>, PreprocessError> {
        let mut image = Cow::Borrowed(image);
        if let Some((size, filter)) = self.config.resize {
            image = Cow::Owned(resized(&image, size, filter)?);
        }
        if let Some((height, width)) = self.config.crop {
            image = Cow::Owned(image.center_crop(height, width));
        }
        Ok(image)
    }

    /// Appends the image's values [3, height, width].
    fn append_values(&self, image: &Image, values: &mut Vec<f32>) {
        for channel in 0..3 {
            let table: Vec<f32> = (0..=255).map(|byte| self.value(byte, channel)).collect();
            values.extend(image.pixels().iter().skip(channel).step_by(3).map(|byte| table[usize::from(*byte)]));
        }
    }

    fn value(&self, byte: u8, channel: usize) -> f32 {
        let value = match self.config.rescale {
            Some(factor) => (f64::from(byte) * factor) as f32,
            None => f32::from(byte),
        };
        match &self.config.normalize {
            Some(normalize) => (value - normalize.mean[channel]) / normalize.std[channel],
            None => value,
        }
    }
}

fn resized(image: &Image, size: Resize, filter: Filter) -> Result<Image, PreprocessError> {
    match size {
        Resize::Exact(height, width) => Ok(resize(image, height, width, filter)),
        Resize::ShortestEdge(side) => to_shortest_edge(image, side, filter),
        Resize::ShareOfSquare(side, _) if side >= WARPED_FROM => Ok(resize(image, side, side, filter)),
        Resize::ShareOfSquare(side, share) => {
            let image = to_shortest_edge(image, (side as f64 / share) as usize, filter)?;
            Ok(image.center_crop(side, side))
        }
    }
}

/// As `get_resize_output_image_size`: the longer side is cut off to whole pixels.
fn to_shortest_edge(image: &Image, side: usize, filter: Filter) -> Result<Image, PreprocessError> {
    let (short, long) = (image.height().min(image.width()), image.height().max(image.width()));
    let new_long = ((side * long) as f64 / short as f64) as usize;
    if new_long > 1 << 20 {
        let problem = format!("its sides {short} and {long} would become {side} and {new_long}");
        return Err(PreprocessError::Image { problem });
    }
    let (height, width) = if image.width() <= image.height() { (new_long, side) } else { (side, new_long) };
    Ok(resize(image, height, width, filter))
}
