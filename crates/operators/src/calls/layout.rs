//! The layout of an input in the memory of a device.

use serde::{Deserialize, Serialize};

/// The layout of an input in the memory of a device; its elements and their order are the same in
/// each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Row-major.
    #[default]
    Contiguous,
    /// Row-major with the dimensions in the opposite order: the last one has the largest stride.
    Reversed,
    /// A part of a larger tensor: one element before, one after and one between neighbours of every
    /// dimension are NaN.
    Sliced,
    /// Dimensions along which all elements are equal are stored once, with a stride of zero.
    Expanded,
}

impl Layout {
    /// Every layout.
    pub const ALL: &'static [Self] = &[
        Self::Contiguous,
        Self::Reversed,
        Self::Sliced,
        Self::Expanded,
    ];

    /// A word for names of cases.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Contiguous => "contiguous",
            Self::Reversed => "reversed strides",
            Self::Sliced => "sliced",
            Self::Expanded => "expanded",
        }
    }
}
