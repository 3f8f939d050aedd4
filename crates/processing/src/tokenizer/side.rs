//! The side of a row that is filled up or cut.

use tokenizers::TruncationDirection;

/// Where short rows of a batch are filled up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaddingSide {
    /// Before the text, as generation needs it.
    Left,
    /// After the text.
    Right,
}

impl From<PaddingSide> for TruncationDirection {
    fn from(side: PaddingSide) -> Self {
        match side {
            PaddingSide::Left => Self::Left,
            PaddingSide::Right => Self::Right,
        }
    }
}
