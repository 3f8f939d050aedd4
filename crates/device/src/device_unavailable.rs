//! The error for a device that is not available.

use serde::Serialize;
use testgen_types::DeviceKind;

/// No usable device of `kind`, with one reason for each detection path that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("no usable {kind} device: {}", .reasons.join("; "))]
pub struct DeviceUnavailable {
    /// The requested kind.
    pub kind: DeviceKind,
    /// Where detection looked, what it found, and what to do; one entry per path.
    pub reasons: Vec<String>,
}

impl DeviceUnavailable {
    /// With one reason.
    pub fn new(kind: DeviceKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reasons: vec![reason.into()],
        }
    }

    /// Appends the reasons of `other`, without repeating any; `self` keeps its kind.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for reason in other.reasons {
            if !self.reasons.contains(&reason) {
                self.reasons.push(reason);
            }
        }
        self
    }
}
