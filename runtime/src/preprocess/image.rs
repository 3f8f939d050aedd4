//! An RGB picture in memory.

use super::PreprocessError;
use crate::Array;
use std::path::Path;

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
        let problem = format!("{} bytes are not {height} x {width} x 3 with both sides at least 1", pixels.len());
        match height > 0
            && width > 0
            && height.checked_mul(width).and_then(|area| area.checked_mul(3)) == Some(pixels.len())
        {
            true => Ok(Self { height, width, pixels }),
            false => Err(PreprocessError::Image { index: 0, problem }),
        }
    }

    /// The image that a golden records as bytes [height, width, 3].
    pub fn from_array(array: &Array) -> Result<Self, PreprocessError> {
        let _ = array;
        unimplemented!()
    }

    /// Reads a png or jpeg file, converted as Pillow's `convert("RGB")` does.
    pub fn open(path: &Path) -> Result<Self, PreprocessError> {
        let _ = path;
        unimplemented!()
    }

    /// Decodes a png or jpeg, converted as Pillow's `convert("RGB")` does: alpha is dropped, grey is repeated.
    pub fn decode(bytes: &[u8]) -> Result<Self, PreprocessError> {
        let _ = bytes;
        unimplemented!()
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
}
