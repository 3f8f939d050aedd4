//! Problems of a report itself, which make it red although no check failed.

use std::fmt;

/// One reason why a report is not green, whatever its entries say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportProblem {
    /// The suite lists no test, or the filters leave none.
    NoTests,
    /// A line of the report is not an entry of this version.
    BadLine {
        /// Counted from 1.
        line: usize,
        /// The error.
        message: String,
    },
    /// The suite lists the test, but the report has no entry for it.
    MissingEntry {
        /// The test.
        test: String,
    },
    /// The report has an entry for a test that the suite does not list.
    UnknownEntry {
        /// The name that the entry claims.
        test: String,
    },
    /// The report has several entries for one test.
    RepeatedEntry {
        /// The test.
        test: String,
    },
    /// The entry says `pass`, but its other fields contradict that.
    FalsePass {
        /// The test.
        test: String,
        /// The contradiction.
        why: String,
    },
    /// A failed or ignored entry without a reason.
    MissingReason {
        /// The test.
        test: String,
    },
    /// The test binary was killed, or its exit code contradicts its entries.
    Exit {
        /// The contradiction or crash.
        message: String,
    },
    /// On the CPU, which every machine has, no engine computed the model.
    NotComputed {
        /// The model.
        model: String,
        /// Why a check that computes it was ignored.
        reason: String,
    },
    /// A device was required, and no check that compared outputs passed on it.
    RequirementUnmet {
        /// The requirement as given.
        requirement: String,
    },
}

impl ReportProblem {
    /// The kind of problem, as the JSON form names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoTests => "no_tests",
            Self::BadLine { .. } => "bad_line",
            Self::MissingEntry { .. } => "missing_entry",
            Self::UnknownEntry { .. } => "unknown_entry",
            Self::RepeatedEntry { .. } => "repeated_entry",
            Self::FalsePass { .. } => "false_pass",
            Self::MissingReason { .. } => "missing_reason",
            Self::Exit { .. } => "exit",
            Self::NotComputed { .. } => "not_computed",
            Self::RequirementUnmet { .. } => "requirement_unmet",
        }
    }
}

impl fmt::Display for ReportProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTests => write!(f, "no test was selected, so the report proves nothing"),
            Self::BadLine { line, message } => {
                write!(f, "line {line} of the report is not an entry: {message}")
            }
            Self::MissingEntry { test } => write!(
                f,
                "`{test}` is in the suite, but the report has no entry for it"
            ),
            Self::UnknownEntry { test } => write!(
                f,
                "the report has an entry for `{test}`, which is not in the suite"
            ),
            Self::RepeatedEntry { test } => {
                write!(f, "the report has several entries for `{test}`")
            }
            Self::FalsePass { test, why } => write!(f, "`{test}` is reported as passed, but {why}"),
            Self::MissingReason { test } => write!(f, "`{test}` did not pass and has no reason"),
            Self::Exit { message } => f.write_str(message),
            Self::NotComputed { model, reason } => {
                write!(
                    f,
                    "no engine computed `{model}` on the CPU, so nothing is known of its numbers: {reason}"
                )
            }
            Self::RequirementUnmet { requirement } => {
                write!(
                    f,
                    "`{requirement}` is required, but no check that compares outputs passed on such a device"
                )
            }
        }
    }
}
