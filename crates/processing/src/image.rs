//! An RGB picture in memory.

use crate::{error::PreprocessError, picture, size::Size};
use std::path::Path;
use testgen_nn::array::{Array, Values};
use testgen_types::bounded_file::{limit, read_bytes};

/// An RGB image of 8 bits a channel, [height, width, 3].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    height: usize,
    width: usize,
    pixels: Vec<u8>,
}

impl Image {
    /// An image of `pixels` [height, width, 3], red first.
    pub fn new(height: usize, width: usize, pixels: Vec<u8>) -> Result<Self, PreprocessError> {
        let bytes = height
            .checked_mul(width)
            .and_then(|area| area.checked_mul(3));
        if height == 0 || width == 0 || bytes != Some(pixels.len()) {
            let problem = format!(
                "{} bytes are not {height} x {width} x 3 with both sides at least 1",
                pixels.len()
            );
            return Err(PreprocessError::Image { problem });
        }
        Ok(Self {
            height,
            width,
            pixels,
        })
    }

    /// As [`Image::new`], for pixels that are known to fill the image.
    pub(crate) fn from_parts(height: usize, width: usize, pixels: Vec<u8>) -> Self {
        debug_assert_eq!(height * width * 3, pixels.len());
        Self {
            height,
            width,
            pixels,
        }
    }

    /// The image that a golden records as bytes [height, width, 3].
    pub fn from_array(array: &Array) -> Result<Self, PreprocessError> {
        match (array.shape(), array.values()) {
            (&[height, width, 3], Values::U8(pixels)) => Self::new(height, width, pixels.clone()),
            (shape, _) => Err(PreprocessError::Image {
                problem: format!(
                    "a tensor of shape {shape:?} is not bytes of shape [height, width, 3]"
                ),
            }),
        }
    }

    /// Reads a png or jpeg file, as [`Image::decode`] does.
    pub fn open(path: &Path) -> Result<Self, PreprocessError> {
        let bytes = read_bytes(path, limit::MEDIA)?;
        Self::decode(&bytes).map_err(|error| PreprocessError::Unreadable {
            path: path.to_owned(),
            message: error.to_string(),
        })
    }

    /// Decodes a png or jpeg and converts it as Pillow's `convert("RGB")` does.
    pub fn decode(bytes: &[u8]) -> Result<Self, PreprocessError> {
        let picture =
            picture::decode(bytes).map_err(|problem| PreprocessError::Image { problem })?;
        Self::new(picture.height, picture.width, picture.pixels)
    }

    /// Rows and columns.
    pub fn size(&self) -> Size {
        Size {
            height: self.height,
            width: self.width,
        }
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The bytes [height, width, 3].
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The part of this size around the centre. If the image is smaller, black is put around it
    /// first.
    pub(crate) fn center_crop(&self, Size { height, width }: Size) -> Self {
        let top = crop_offset(self.height, height);
        let left = crop_offset(self.width, width);
        // Black around a smaller image, as transformers' `center_crop` does.
        let mut pixels = vec![0; height * width * 3];
        for row in 0..height {
            for column in 0..width {
                // Signed, because a crop larger than the image begins before it.
                if let Some(pixel) = self.pixel(row as isize + top, column as isize + left) {
                    pixels[(row * width + column) * 3..][..3].copy_from_slice(pixel);
                }
            }
        }
        Self {
            height,
            width,
            pixels,
        }
    }

    fn pixel(&self, row: isize, column: isize) -> Option<&[u8]> {
        let row = usize::try_from(row).ok().filter(|row| *row < self.height)?;
        let column = usize::try_from(column)
            .ok()
            .filter(|column| *column < self.width)?;
        Some(&self.pixels[(row * self.width + column) * 3..][..3])
    }
}

/// The offset of a centred crop in the original; negative, and rounded down, if the original is
/// smaller.
fn crop_offset(original: usize, crop: usize) -> isize {
    (original as isize - crop as isize).div_euclid(2)
}
