//! What a record amounts to: one word that tells a pass on the device from everything that only looks like one.

use crate::expected_failure::ExpectedFailures;
use serde::Serialize;
use testgen_contract::{Record, RecordStatus};

/// What a record amounts to. The order is that of gravity: the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The property does not hold.
    Fail,
    /// No model could be loaded: the endpoint was a mock, and nothing was computed.
    Mock,
    /// It passed, although testgen.toml or the spec expects a failure.
    UnexpectedPass,
    /// Another device than the one named stood in.
    Fallback,
    /// It failed, as the spec or testgen.toml says until a date.
    ExpectedFailure,
    /// Of a cell alone: nothing failed, but the outputs were not compared with the golden.
    Incomplete,
    /// It holds, on a software simulation of the device.
    Simulated,
    /// It holds, on the device that it names.
    Pass,
    /// It did not run.
    Ignored,
}

/// A record's standing, and why when the record alone does not say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What the record amounts to.
    pub standing: Standing,
    /// Whether the report cannot be green with it.
    pub red: bool,
    /// What has to be said beside the record's own reason.
    pub note: Option<String>,
}

impl Standing {
    /// Every standing.
    pub const ALL: &[Self] = &[
        Self::Fail,
        Self::Mock,
        Self::UnexpectedPass,
        Self::Fallback,
        Self::ExpectedFailure,
        Self::Incomplete,
        Self::Simulated,
        Self::Pass,
        Self::Ignored,
    ];

    /// The word that people read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Mock => "mock",
            Self::UnexpectedPass => "unexpected pass",
            Self::Fallback => "fallback",
            Self::ExpectedFailure => "expected failure",
            Self::Incomplete => "incomplete",
            Self::Simulated => "simulated",
            Self::Pass => "pass",
            Self::Ignored => "ignored",
        }
    }

    /// A sign that differs in shape from all others, for readers who see no colour.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Fail => "\u{2717}",
            Self::Mock => "\u{2205}",
            Self::UnexpectedPass => "!",
            Self::Fallback => "\u{21b7}",
            Self::ExpectedFailure => "x",
            Self::Incomplete => "\u{25d0}",
            Self::Simulated => "\u{2248}",
            Self::Pass => "\u{2713}",
            Self::Ignored => "\u{2013}",
        }
    }

    /// What the word means, for the legend.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fail => "ran, and the numbers or the property are wrong",
            Self::Mock => "no model could be loaded; nothing was computed",
            Self::UnexpectedPass => "passed although a failure is expected; remove the expectation",
            Self::Fallback => "another device stood in; says nothing about the one named",
            Self::ExpectedFailure => "failed as announced, with owner and expiry",
            Self::Incomplete => "nothing failed, but the outputs were not compared with the golden here",
            Self::Simulated => "passed on a software simulation, not on silicon",
            Self::Pass => "ran on the device named, and the numbers agree",
            Self::Ignored => "did not run; the reason is told",
        }
    }
}

/// Judges one record; `contradiction` says why a pass cannot be one.
pub fn judge_record(record: &Record, contradiction: Option<&str>, expected: &ExpectedFailures) -> Judged {
    if let Some(why) = contradiction {
        let note = Some(format!("recorded as passed, but {why}"));
        return Judged { standing: without_numbers(record).unwrap_or(Standing::Fail), red: true, note };
    }
    let expectation = expected.of(record);
    let in_force = expectation.filter(|entry| expected.is_in_force(entry));
    let judged = |standing, red, note| Judged { standing, red, note };
    match (record.status, in_force, expectation) {
        (RecordStatus::Ignored, ..) => judged(without_numbers(record).unwrap_or(Standing::Ignored), false, None),
        (RecordStatus::Fail, Some(entry), _) => judged(Standing::ExpectedFailure, false, Some(entry.describe())),
        (RecordStatus::Fail, None, Some(entry)) => {
            judged(Standing::Fail, true, Some(format!("no longer expected to fail: {}", entry.describe())))
        }
        (RecordStatus::Fail, None, None) => judged(without_numbers(record).unwrap_or(Standing::Fail), true, None),
        (RecordStatus::Pass, _, Some(entry)) => {
            judged(Standing::UnexpectedPass, true, Some(format!("expected to fail: {}", entry.describe())))
        }
        (RecordStatus::Pass, _, None) if record.simulated => judged(Standing::Simulated, false, None),
        (RecordStatus::Pass, _, None) => judged(Standing::Pass, false, None),
    }
}

/// A numeric check that met a mock or a fallback. The other checks are about mocks and fallbacks, and meet them rightly.
fn without_numbers(record: &Record) -> Option<Standing> {
    match (record.check.is_numeric(), record.mock, record.fallback) {
        (true, true, _) => Some(Standing::Mock),
        (true, false, true) => Some(Standing::Fallback),
        (true, false, false) | (false, ..) => None,
    }
}
