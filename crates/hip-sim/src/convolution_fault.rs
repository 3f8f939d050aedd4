//! Faults of convolutions.

use std::str::FromStr;

/// A fault of the simulated MIOpen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvolutionFault {
    /// Subnormal elements of both factors are taken as 0.
    Flush,
    /// Padding is taken as 0, so that every window is shifted.
    Padding,
    /// Dilation is taken as 1.
    Dilation,
    /// Every group has the weight of the first one.
    Group,
    /// The kernel is read backwards: a convolution in place of a cross-correlation.
    Flip,
    /// Elements of the result after the first kilobyte are not stored.
    Limit,
    /// The element after the last one is written, too.
    Beyond,
    /// The solution that has a workspace writes a byte after it.
    Workspace,
    /// Nothing is computed, and success is returned.
    Silent,
    /// An internal error is returned.
    Refuse,
    /// Sums are rounded to the type of the result after each term.
    Round,
    /// The first element of the last listed solution is NaN.
    Nan,
    /// The last listed solution computes nothing; the others are right.
    Solution,
}

impl ConvolutionFault {
    /// Every fault with its name in `HIP_SIM_FAULTS`.
    pub const ALL: &[(&str, Self)] = &[
        ("flush", Self::Flush),
        ("padding", Self::Padding),
        ("dilation", Self::Dilation),
        ("group", Self::Group),
        ("flip", Self::Flip),
        ("limit", Self::Limit),
        ("beyond", Self::Beyond),
        ("workspace", Self::Workspace),
        ("silent", Self::Silent),
        ("refuse", Self::Refuse),
        ("round", Self::Round),
        ("nan", Self::Nan),
        ("solution", Self::Solution),
    ];
}

impl FromStr for ConvolutionFault {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, fault)| *fault)
            .ok_or(())
    }
}
