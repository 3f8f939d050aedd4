//! The forms in which a size is stated.

use crate::size::Size;

/// The size that an image gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Resize {
    /// Exactly this size.
    Exact(Size),
    /// This shorter side, the longer one in proportion.
    ShortestEdge(usize),
    /// DETR and its relatives: this shorter side, unless the longer one would be above its limit.
    Edges(usize, usize, Option<SideMultiple>),
    /// DPT: this size, or if the proportions are kept the size with the side that changes least;
    /// both sides are rounded to multiples of a number.
    Multiple(Size, bool, usize),
    /// ConvNeXT: below 384 this side divided by the share, then a centred square of this side; from
    /// 384 on a square.
    ShareOfSquare(usize, f64),
}

/// A number of which both sides become a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SideMultiple {
    /// YOLOS: the sides are cut off.
    Below(usize),
    /// MaskFormer and Mask2Former: the sides are made longer.
    Above(usize),
}

impl SideMultiple {
    /// The side as a multiple; zero has none.
    pub(crate) fn apply(self, side: usize) -> usize {
        match self {
            Self::Below(0) | Self::Above(0) => side,
            Self::Below(multiple) => side - side % multiple,
            Self::Above(multiple) => side.div_ceil(multiple) * multiple,
        }
    }
}
