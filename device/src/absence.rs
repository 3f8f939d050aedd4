//! Why there is no device of a kind.

use serde::Serialize;
use testgen_contract::DeviceKind;

/// No usable device of `kind`, with one reason for each path that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("no usable {kind} device: {}", .reasons.join("; "))]
pub struct Absence {
    /// The kind that was looked for.
    pub kind: DeviceKind,
    /// What was looked for, what was found, and what to do, one sentence group per path.
    pub reasons: Vec<String>,
}

impl Absence {
    /// An absence with one reason.
    pub fn new(kind: DeviceKind, reason: impl Into<String>) -> Self {
        Self { kind, reasons: vec![reason.into()] }
    }

    /// Both absences in one, reasons in the order looked at; the kind stays that of `self`.
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
