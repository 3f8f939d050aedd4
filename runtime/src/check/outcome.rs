//! What becomes of a check.

use testgen_contract::{HardwareRecord, MemoryRecord, OutputError};

/// A finished check.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// Whether the property holds.
    pub(crate) verdict: Verdict,
    /// What ran, and how far off it was.
    pub(crate) evidence: Evidence,
}

/// Whether the property holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It holds, and the check ran on its device.
    Pass {
        /// What was found, where there is something to tell.
        note: Option<String>,
    },
    /// It does not hold, or the check could not be made although the device is there.
    Fail {
        /// Why.
        reason: String,
    },
    /// The check was not made.
    Ignored {
        /// Why not.
        reason: String,
    },
}

/// What ran, and how far off it was.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Evidence {
    /// The device that ran, as its driver names it.
    pub(crate) device_name: Option<String>,
    /// What else is known of it.
    pub(crate) hardware: Option<HardwareRecord>,
    /// Whether it is a simulation.
    pub(crate) simulated: bool,
    /// Whether it declares TF32.
    pub(crate) tf32: bool,
    /// Whether an endpoint of the check was a fallback.
    pub(crate) fallback: bool,
    /// Whether an endpoint of the check was a mock.
    pub(crate) mock: bool,
    /// Memory around the first load.
    pub(crate) memory: Option<MemoryRecord>,
    /// The compared tensors; of several comparisons under one name the one with the least headroom.
    pub(crate) outputs: Vec<OutputError>,
}

impl Evidence {
    pub(super) fn record(&mut self, error: OutputError) {
        match self.outputs.iter_mut().find(|known| known.name == error.name) {
            Some(known) if known.headroom <= error.headroom => {}
            Some(known) => *known = error,
            None => self.outputs.push(error),
        }
    }
}

/// Why a check ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// It failed.
    Fail(String),
    /// It cannot be made here.
    Ignored(String),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Fail(crate::endpoint::chain(&error))
    }
}

/// Everything that is wrong, told together.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<String>);

impl Failures {
    /// Messages told in full; a sweep can have hundreds.
    const TOLD: usize = 6;

    pub(super) fn push(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    /// Adds the message of a comparison that failed.
    pub(super) fn note(&mut self, failure: Option<String>) {
        self.0.extend(failure);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails when there is anything.
    pub(super) fn conclude(self) -> Result<(), Stop> {
        if self.0.is_empty() {
            return Ok(());
        }
        let rest = self.0.len().saturating_sub(Self::TOLD);
        let mut text = self.0[..self.0.len() - rest].join("\n");
        if rest > 0 {
            text.push_str(&format!("\nand {rest} more"));
        }
        Err(Stop::Fail(text))
    }
}
