//! Faults of convolutions.

use crate::named_faults::named_faults;

named_faults! {
    /// A fault of the simulated MIOpen.
    ConvolutionFault {
        /// Subnormal elements of both factors are taken as 0.
        Flush = "flush",
        /// Padding is taken as 0, so that every window is shifted.
        Padding = "padding",
        /// Dilation is taken as 1.
        Dilation = "dilation",
        /// Every group has the weight of the first one.
        Group = "group",
        /// The kernel is read backwards: a convolution in place of a cross-correlation.
        Flip = "flip",
        /// Elements of the result after the first kilobyte are not stored.
        Limit = "limit",
        /// The element after the last one is written, too.
        Beyond = "beyond",
        /// The solution that has a workspace writes a byte after it.
        Workspace = "workspace",
        /// Nothing is computed, and success is returned.
        Silent = "silent",
        /// An internal error is returned.
        Refuse = "refuse",
        /// Sums are rounded to the type of the result after each term.
        Round = "round",
        /// The first element of the last listed solution is NaN.
        Nan = "nan",
        /// The last listed solution computes nothing; the others are right.
        Solution = "solution",
    }
}
