//! The status of a check in a merged report: a pass on the named device, or one of the outcomes
//! that are easily taken for it.

use crate::results::expected_failure::ExpectedFailures;
use serde::Serialize;
use testgen_types::{CheckTopic, EntryStatus, ReportEntry, SubjectKind};

/// The start of the reason why a check was ignored that its engine cannot run
/// (`check/run/check_run.rs` of the runtime).
// If the two differ, the check is shown as a mock.
const UNSUPPORTED: &str = "the engine does not support it";

/// The status of a check, in order of severity: the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// The property does not hold.
    Fail,
    /// No model could be loaded: the endpoint was a mock, and nothing was computed.
    Mock,
    /// It passed, although testgen.toml or the spec expects a failure.
    UnexpectedPass,
    /// A device other than the named one was used.
    Fallback,
    /// It failed, as the spec or testgen.toml expects until a date.
    ExpectedFailure,
    /// Of a cell alone: nothing failed, but the outputs were not compared with the golden.
    Incomplete,
    /// It passed on a software simulation of the device.
    Simulated,
    /// It passed on the named device.
    Pass,
    /// It did not run.
    Ignored,
}

/// The status of a check, and the reason when its report entry does not contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEvaluation {
    /// The status.
    pub status: ResultStatus,
    /// Whether it makes the report red.
    pub red: bool,
    /// An explanation in addition to the entry's own reason.
    pub note: Option<String>,
}

impl ResultStatus {
    /// Every status.
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

    /// The written form.
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

    /// A sign whose shape is unique, so that states are never distinguished by colour alone.
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

    /// The explanation in legends.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fail => "ran, and the numbers or the property are wrong",
            Self::Mock => "no model could be loaded; nothing was computed",
            Self::UnexpectedPass => "passed although a failure is expected; remove the expectation",
            Self::Fallback => "another device was used; no result for the named one",
            Self::ExpectedFailure => "failed as expected, with owner and expiry date",
            Self::Incomplete => "nothing failed, but the outputs were not compared with the golden",
            Self::Simulated => "passed on a software simulation, not on hardware",
            Self::Pass => "ran on the named device, and the numbers agree",
            Self::Ignored => "did not run; the report contains the reason",
        }
    }
}

/// Evaluates one entry; `contradiction` is the reason why its pass cannot be one.
pub fn evaluate(
    entry: &ReportEntry,
    contradiction: Option<&str>,
    expected: &ExpectedFailures,
) -> StatusEvaluation {
    // Before expectations: a pass that contradicts itself is not the unexpected pass of an expected
    // failure.
    if let Some(why) = contradiction {
        let note = Some(format!("reported as passed, but {why}"));
        return StatusEvaluation {
            status: without_numbers(entry).unwrap_or(ResultStatus::Fail),
            red: true,
            note,
        };
    }
    // Before expectations, too: it did not pass, so it is not an unexpected pass.
    if compared_nothing(entry) {
        let note = Some("reported as passed, but it compared nothing".to_owned());
        return evaluation(ResultStatus::Ignored, false, note);
    }
    let expectation = expected.matching(entry);
    let in_force = expectation.filter(|expectation| expected.is_in_force(expectation));
    match (entry.status, in_force, expectation) {
        (EntryStatus::Ignored, ..) => evaluation(ignored(entry), false, None),
        (EntryStatus::Fail, Some(expectation), _) => evaluation(
            ResultStatus::ExpectedFailure,
            false,
            Some(expectation.describe()),
        ),
        (EntryStatus::Fail, None, Some(expectation)) => {
            let note = format!("no longer expected to fail: {}", expectation.describe());
            evaluation(ResultStatus::Fail, true, Some(note))
        }
        (EntryStatus::Fail, None, None) => evaluation(
            without_numbers(entry).unwrap_or(ResultStatus::Fail),
            true,
            expected.unexpected_kind(entry),
        ),
        // Also red after the expiry date, so that the outdated expectation is removed.
        (EntryStatus::Pass, _, Some(expectation)) => {
            let note = format!("expected to fail: {}", expectation.describe());
            evaluation(ResultStatus::UnexpectedPass, true, Some(note))
        }
        (EntryStatus::Pass, _, None) if entry.simulated => {
            evaluation(ResultStatus::Simulated, false, None)
        }
        (EntryStatus::Pass, _, None) => evaluation(ResultStatus::Pass, false, None),
    }
}

/// Whether operators were compared without a case: earlier versions reported that as a pass.
fn compared_nothing(entry: &ReportEntry) -> bool {
    let check = entry.check.entry();
    entry.status == EntryStatus::Pass
        && check.topic == CheckTopic::Numbers
        && check.subjects == [SubjectKind::Operators]
        && !entry.has_compared()
}

/// The status of a check that the suite ignored.
fn ignored(entry: &ReportEntry) -> ResultStatus {
    let is_unsupported = entry
        .reason
        .as_deref()
        .is_some_and(|reason| reason.starts_with(UNSUPPORTED));
    // An endpoint without a model is a mock, also if the engine lacks what the model needs; the
    // suite reports every other model that could not be loaded as a failure.
    match without_numbers(entry) {
        Some(ResultStatus::Mock) if is_unsupported => ResultStatus::Ignored,
        other => other.unwrap_or(ResultStatus::Ignored),
    }
}

/// The status of a numeric check on a mock or a fallback. The other checks test mocks and
/// fallbacks, so they keep theirs.
fn without_numbers(entry: &ReportEntry) -> Option<ResultStatus> {
    match (entry.check.is_numeric(), entry.mock, entry.fallback) {
        (true, true, _) => Some(ResultStatus::Mock),
        (true, false, true) => Some(ResultStatus::Fallback),
        (true, false, false) | (false, ..) => None,
    }
}

fn evaluation(status: ResultStatus, red: bool, note: Option<String>) -> StatusEvaluation {
    StatusEvaluation { status, red, note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::read::parse_lines;

    #[test]
    fn operators_without_a_case_did_not_pass() {
        let expected = ExpectedFailures::new(Vec::new(), "2027-01-01".parse().expect("is a date"));
        let status = |check: &str, outputs: &str| {
            let line = format!(
                r#"{{"version":1,"model":"loss","architecture":"operators","device":"cpu","check":"{check}","precision":"f32","status":"pass","device_name":"host","outputs":[{outputs}],"milliseconds":1}}"#
            );
            let entry = parse_lines(&line).entries.remove(0);
            evaluate(&entry, None, &expected).status
        };
        let output = r#"{"name":"add","rel_l2":0,"max_rel":0,"rel_l2_threshold":1,"max_rel_threshold":1,"headroom":9}"#;
        assert_eq!(status("integers", ""), ResultStatus::Ignored);
        assert_eq!(status("integers", output), ResultStatus::Pass);
        // Others have no outputs to report.
        assert_eq!(status("determinism", ""), ResultStatus::Pass);
    }
}
