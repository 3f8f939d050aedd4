//! The status of an endpoint: real, a fallback, or a mock.

use std::fmt;
use testgen_types::DeviceKind;

/// The status of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The model runs on the device that was asked for.
    Real,
    /// The model runs on another device, because the one asked for is absent.
    Fallback {
        /// The device asked for.
        from: DeviceKind,
        /// The device that runs.
        to: DeviceKind,
        /// Why the one asked for is absent.
        why: String,
    },
    /// No model runs.
    Mock {
        /// The error.
        why: String,
        /// The device that was asked for first, when this came of a fallback.
        fallback: Option<DeviceKind>,
    },
}

impl Status {
    /// Why it is not real.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Real => None,
            Self::Fallback { why, .. } | Self::Mock { why, .. } => Some(why),
        }
    }

    /// Whether another device than the one asked for was taken, with or without success.
    pub fn is_fallback(&self) -> bool {
        matches!(
            self,
            Self::Fallback { .. }
                | Self::Mock {
                    fallback: Some(_),
                    ..
                }
        )
    }

    /// Whether no model runs.
    pub fn is_mock(&self) -> bool {
        matches!(self, Self::Mock { .. })
    }

    pub(super) fn into_fallback(self, from: DeviceKind, to: DeviceKind, absent: String) -> Self {
        match self {
            Self::Real => Self::Fallback {
                from,
                to,
                why: absent,
            },
            // A report names the device that was asked for first, and the reasons of all steps.
            Self::Fallback { to, why, .. } => Self::Fallback {
                from,
                to,
                why: format!("{absent}; {why}"),
            },
            Self::Mock { why, .. } => Self::Mock {
                why: format!("{why}; it was tried because of {absent}"),
                fallback: Some(from),
            },
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real => f.write_str("real"),
            Self::Fallback { from, to, why } => write!(f, "a fallback from {from} to {to}: {why}"),
            Self::Mock { why, .. } => write!(f, "a mock: {why}"),
        }
    }
}
