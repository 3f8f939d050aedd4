//! Shapes of values that several configurations share.

use serde::Deserialize;

/// A height and width: one number, or `[height, width]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ImageSize {
    Square(usize),
    Each([usize; 2]),
}

impl ImageSize {
    /// `[height, width]`.
    pub(crate) fn height_width(self) -> [usize; 2] {
        match self {
            Self::Square(side) => [side, side],
            Self::Each(sides) => sides,
        }
    }
}
