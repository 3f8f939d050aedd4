//! The forms in which a size is stated.

use crate::size::Size;

/// The size that an image gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Resize {
    /// Exactly this size.
    Exact(Size),
    /// This shorter side, the longer one in proportion.
    ShortestEdge(usize),
    /// DETR and YOLOS: this shorter side, unless the longer one would be above its limit; with a
    /// third number, both sides are cut off to multiples of it.
    Edges(usize, usize, Option<usize>),
    /// DPT: this size, or if the proportions are kept the size with the side that changes least;
    /// both sides are rounded to multiples of a number.
    Multiple(Size, bool, usize),
    /// ConvNeXT: below 384 this side divided by the share, then a centred square of this side; from
    /// 384 on a square.
    ShareOfSquare(usize, f64),
}
