//! Converts images to pixel values, as configured in `preprocessor_config.json`.

use crate::{
    error::PreprocessError,
    image::Image,
    image_config::{self, ImageConfig, Resize, SideMultiple},
    resample::{ResampleFilter, resize},
    size::Size,
};
use std::{borrow::Cow, path::Path};
use testgen_nn::array::{Array, Arrays};

/// The side from which on ConvNeXT's processor stops cropping.
// As transformers: published ConvNeXT models of this size were evaluated without a crop.
const WARPED_FROM: usize = 384;

/// The longest side that an image may get.
const LONGEST: usize = 1 << 20;

/// Turns images into `pixel_values` as transformers does with its Pillow backend, bit for bit.
///
/// Follows `PilBackend` and `ConvNextImageProcessorPil` (transformers 5): resize in 8 bits, crop,
/// rescale in f64 and round to f32, normalise in f32.
#[derive(Debug)]
pub struct ImageProcessor {
    config: ImageConfig,
}

impl ImageProcessor {
    /// Reads the files in `directory`, or `None` if there is no image processor.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        Ok(image_config::read(directory)?.map(|config| Self { config }))
    }

    /// `pixel_values` [batch, 3, height, width]. All images must come out in one size, unless they
    /// are padded to one: then `pixel_mask` [batch, height, width] is 1 for the pixels of the
    /// images.
    pub fn process(&self, images: &[Image]) -> Result<Arrays, PreprocessError> {
        let shaped = images
            .iter()
            .map(|image| self.shaped(image))
            .collect::<Result<Vec<_>, _>>()?;
        let size = |image: &Cow<'_, Image>| image.size();
        let first = shaped.first().map(size).unwrap_or_default();
        let whole = match self.config.pad {
            true => shaped.iter().map(size).fold(first, Size::max),
            false => first,
        };
        if let Some(index) = shaped
            .iter()
            .position(|image| !self.config.pad && size(image) != first)
        {
            return Err(PreprocessError::UnequalImages {
                index,
                found: size(&shaped[index]),
                first,
            });
        }
        let (mut values, mut mask) = (Vec::new(), Vec::new());
        for image in &shaped {
            self.append_values(image, whole, &mut values);
            append_mask(image, whole, &mut mask);
        }
        let shape = [images.len(), whole.height, whole.width];
        let pixels = Array::floats([shape[0], 3, shape[1], shape[2]], values);
        let mut arrays = Arrays::from([("pixel_values".to_owned(), pixels)]);
        if self.config.pad {
            arrays.insert("pixel_mask".to_owned(), Array::integers(shape, mask));
        }
        Ok(arrays)
    }

    /// `pixel_values` [batch, frames, 3, height, width] of videos with equally many frames, each of
    /// which is processed as an image.
    pub fn process_videos(&self, videos: &[Vec<Image>]) -> Result<Arrays, PreprocessError> {
        let count = videos.first().map_or(0, Vec::len);
        if let Some(index) = videos.iter().position(|video| video.len() != count) {
            let found = videos[index].len();
            let problem = format!("video {index} has {found} frames, the first has {count}");
            return Err(PreprocessError::Image { problem });
        }
        let frames: Vec<Image> = videos.iter().flatten().cloned().collect();
        let mut arrays = self.process(&frames)?;
        for array in arrays.values_mut() {
            let shape = [&[videos.len(), count], &array.shape()[1..]].concat();
            *array = array.reshaped(&shape);
        }
        Ok(arrays)
    }

    /// The image resized and cropped.
    fn shaped<'a>(&self, image: &'a Image) -> Result<Cow<'a, Image>, PreprocessError> {
        let mut image = Cow::Borrowed(image);
        if let Some((size, filter)) = self.config.resize {
            image = Cow::Owned(resized(&image, size, filter)?);
        }
        if let Some(size) = self.config.crop {
            image = Cow::Owned(image.center_crop(size));
        }
        Ok(image)
    }

    /// Appends the image's values [3, height, width], with zeros after its rows and columns up to
    /// `whole`.
    fn append_values(&self, image: &Image, whole: Size, values: &mut Vec<f32>) {
        for channel in 0..3 {
            // A byte has 256 values, so the casts and the division are done once for each and not
            // for every pixel.
            let table: Vec<f32> = (0..=255).map(|byte| self.value(byte, channel)).collect();
            let end = values.len() + whole.height * whole.width;
            for row in image.pixels().chunks_exact(3 * image.width()) {
                values.extend(
                    row.iter()
                        .skip(channel)
                        .step_by(3)
                        .map(|byte| table[usize::from(*byte)]),
                );
                // Zero after normalising, not black: `PilBackend._preprocess` pads last.
                values.extend(std::iter::repeat_n(0.0, whole.width - image.width()));
            }
            values.resize(end, 0.0);
        }
    }

    fn value(&self, byte: u8, channel: usize) -> f32 {
        let value = match self.config.rescale {
            // transformers' `rescale` multiplies in f64 and casts then; a product in f32 differs in
            // the last bit.
            Some(factor) => (f64::from(byte) * factor) as f32,
            None => f32::from(byte),
        };
        match &self.config.normalize {
            Some(normalize) => (value - normalize.mean[channel]) / normalize.std[channel],
            None => value,
        }
    }
}

/// Appends 1 for every pixel of the image and 0 for the pixels that fill it up to `whole`.
fn append_mask(image: &Image, whole: Size, mask: &mut Vec<i64>) {
    let places =
        (0..whole.height).flat_map(|row| (0..whole.width).map(move |column| (row, column)));
    mask.extend(
        places.map(|(row, column)| i64::from(row < image.height() && column < image.width())),
    );
}

fn resized(image: &Image, size: Resize, filter: ResampleFilter) -> Result<Image, PreprocessError> {
    match size {
        Resize::Exact(size) => Ok(resize(image, size, filter)),
        Resize::ShortestEdge(side) => to_shortest_edge(image, side, filter),
        Resize::Edges(shortest, longest, multiple) => {
            let size = within_edges(image.size(), shortest, longest, multiple);
            if size.shorter() == 0 {
                let problem = format!("its size {} would become {size}", image.size());
                return Err(PreprocessError::Image { problem });
            }
            Ok(resize(image, size, filter))
        }
        Resize::Multiple(size, keeps, multiple) => {
            let size = of_multiple(image.size(), size, keeps, multiple);
            if size.shorter() == 0 || size.longer() > LONGEST {
                let problem = format!("its size {} would become {size}", image.size());
                return Err(PreprocessError::Image { problem });
            }
            Ok(resize(image, size, filter))
        }
        Resize::ShareOfSquare(side, _) if side >= WARPED_FROM => {
            Ok(resize(image, Size::square(side), filter))
        }
        Resize::ShareOfSquare(side, share) => {
            let image = to_shortest_edge(image, (side as f64 / share) as usize, filter)?;
            Ok(image.center_crop(Size::square(side)))
        }
    }
}

/// As `get_size_with_aspect_ratio`, and with a multiple below as YOLOS' variant of it: the longer
/// side is cut off to whole pixels.
fn within_edges(
    size: Size,
    shortest: usize,
    longest: usize,
    multiple: Option<SideMultiple>,
) -> Size {
    let Size { height, width } = size;
    let (short, long) = (size.shorter() as f64, size.longer() as f64);
    let limited =
        (long / short * shortest as f64 > longest as f64).then(|| longest as f64 * short / long);
    // Python's `round` takes ties to even.
    let side = limited.map_or(shortest, |side| side.round_ties_even() as usize);
    // The other side follows from the limit before it is rounded.
    let exact = limited.unwrap_or(side as f64);
    let (height, width) = match multiple {
        // YOLOS compares `width < height` first, so that a portrait image always gets a computed
        // height.
        Some(SideMultiple::Below(_)) if height <= width && height == side => (height, width),
        None | Some(SideMultiple::Above(_)) if size.shorter() == side => (height, width),
        _ if width < height => (other_side(exact, height, width), side),
        _ => (side, other_side(exact, width, height)),
    };
    Size {
        height: multiple.map_or(height, |multiple| multiple.apply(height)),
        width: multiple.map_or(width, |multiple| multiple.apply(width)),
    }
}

/// The longer side if the shorter one becomes `exact`, cut off to whole pixels.
fn other_side(exact: f64, longer: usize, shorter: usize) -> usize {
    (exact * longer as f64 / shorter as f64) as usize
}

/// As DPT's `get_resize_output_image_size`.
fn of_multiple(image: Size, target: Size, keeps: bool, multiple: usize) -> Size {
    let mut height = target.height as f64 / image.height as f64;
    let mut width = target.width as f64 / image.width as f64;
    if keeps && (1.0 - width).abs() < (1.0 - height).abs() {
        height = width;
    } else if keeps {
        width = height;
    }
    Size {
        height: nearest_multiple(height * image.height as f64, multiple),
        width: nearest_multiple(width * image.width as f64, multiple),
    }
}

fn nearest_multiple(side: f64, multiple: usize) -> usize {
    // Python's `round` takes ties to even.
    (side / multiple as f64).round_ties_even() as usize * multiple
}

/// As `get_resize_output_image_size`: the longer side is cut off to whole pixels.
fn to_shortest_edge(
    image: &Image,
    side: usize,
    filter: ResampleFilter,
) -> Result<Image, PreprocessError> {
    let (short, long) = (image.size().shorter(), image.size().longer());
    let new_long = ((side * long) as f64 / short as f64) as usize;
    // An image of a few pixels by thousands would become one of gigabytes.
    if new_long > LONGEST {
        let problem = format!("its sides {short} and {long} would become {side} and {new_long}");
        return Err(PreprocessError::Image { problem });
    }
    let size = match image.width() <= image.height() {
        true => Size {
            height: new_long,
            width: side,
        },
        false => Size {
            height: side,
            width: new_long,
        },
    };
    Ok(resize(image, size, filter))
}
