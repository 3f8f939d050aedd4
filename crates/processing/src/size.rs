//! The size of an image, in a separate module because errors show it, too.

use std::fmt;

/// The height and the width of an image, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Size {
    /// A square.
    pub(crate) const fn square(side: usize) -> Self {
        Self {
            height: side,
            width: side,
        }
    }

    /// The smallest size that holds both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            height: self.height.max(other.height),
            width: self.width.max(other.width),
        }
    }

    /// The shorter side.
    pub(crate) fn shorter(self) -> usize {
        self.height.min(self.width)
    }

    /// The longer side.
    pub(crate) fn longer(self) -> usize {
        self.height.max(self.width)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.height, self.width)
    }
}
