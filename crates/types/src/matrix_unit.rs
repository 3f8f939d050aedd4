//! The fingerprint of a matrix unit: the features of the unit that computed a product, and their
//! words.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The features of the unit that computed a product. A feature that no hypothesis explains is
/// `None`: unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixUnit {
    /// The number of terms that are added at once, without rounding in between: a power of two, 1
    /// for sums in sequence.
    pub terms: Option<usize>,
    /// The bits below f32's that terms keep when they are aligned. Unknown where fewer than four
    /// terms are added at once.
    pub extra_bits: Option<ExtraBits>,
    /// The rounding of sums to f32.
    pub rounding: Option<SumRounding>,
    /// Whether the terms are added to each other before they are added to the accumulator.
    pub accumulator_separate: Option<bool>,
    /// Whether operands below the smallest normal number are kept.
    pub subnormal_inputs: Option<bool>,
    /// Whether results below the smallest normal number are kept.
    pub subnormal_outputs: Option<bool>,
    /// The generations whose published features are these.
    pub like: Vec<String>,
}

/// The bits below f32's in an aligned term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraBits {
    /// Terms are cut to f32's bits.
    None,
    /// One.
    One,
    /// Two.
    Two,
    /// Three, or more.
    ThreeOrMore,
}

/// The rounding of a sum to f32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SumRounding {
    /// To the nearest, ties to even.
    NearestEven,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Truncation.
    TowardZero,
    /// Toward minus infinity.
    Down,
    /// Toward infinity.
    Up,
}

impl fmt::Display for MatrixUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.terms {
            Some(1) => f.write_str("terms added in sequence")?,
            Some(terms) => write!(f, "{terms} terms added at once")?,
            None => f.write_str("terms added at once unknown")?,
        }
        // Left out if unknown, because sums of few terms cannot show them.
        if let Some(bits) = self.extra_bits {
            write!(f, ", extra bits {bits}")?;
        }
        match self.rounding {
            Some(rounding) => write!(f, ", sums rounded {rounding}")?,
            None => f.write_str(", rounding of sums unknown")?,
        }
        if self.accumulator_separate == Some(true) {
            f.write_str(", accumulator added last")?;
        }
        for (name, kept) in [
            ("inputs", self.subnormal_inputs),
            ("outputs", self.subnormal_outputs),
        ] {
            let kept = kept.map_or("unknown", |kept| if kept { "kept" } else { "flushed" });
            write!(f, ", subnormal {name} {kept}")?;
        }
        match self.like.as_slice() {
            [] => f.write_str(", like no published generation"),
            names => write!(f, ", like {}", names.join(" or ")),
        }
    }
}

impl fmt::Display for ExtraBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "0",
            Self::One => "1",
            Self::Two => "2",
            Self::ThreeOrMore => "3 or more",
        })
    }
}

impl fmt::Display for SumRounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NearestEven => "to nearest even",
            Self::NearestAway => "ties away from zero",
            Self::TowardZero => "toward zero",
            Self::Down => "down",
            Self::Up => "up",
        })
    }
}
