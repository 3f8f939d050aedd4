//! What makes a report untrustworthy, although no check in it failed.

use std::fmt;

/// One reason why a report is not green whatever its records say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// The suite lists no test, or the filters leave none.
    NoTests,
    /// A line of the report is not a record of this version.
    BadLine {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The suite lists the test, but the report has no record of it.
    WithoutRecord {
        /// The test.
        test: String,
    },
    /// The report has a record that belongs to no test of the suite.
    Unknown {
        /// The name that the record claims.
        test: String,
    },
    /// The report has several records of one test.
    Repeated {
        /// The test.
        test: String,
    },
    /// The record says pass, and something else in it says that it cannot be one.
    FalsePass {
        /// The test.
        test: String,
        /// The contradiction.
        why: String,
    },
    /// A record that failed or was ignored says no reason.
    WithoutReason {
        /// The test.
        test: String,
    },
    /// The test binary was killed, or said by its exit code something else than by its records.
    Exit {
        /// What happened.
        message: String,
    },
    /// A device was required, and no numeric check passed on it.
    RequirementUnmet {
        /// The requirement as given.
        requirement: String,
    },
}

impl Problem {
    /// A short word for the kind of problem, as the JSON form names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoTests => "no_tests",
            Self::BadLine { .. } => "bad_line",
            Self::WithoutRecord { .. } => "without_record",
            Self::Unknown { .. } => "unknown_record",
            Self::Repeated { .. } => "repeated_record",
            Self::FalsePass { .. } => "false_pass",
            Self::WithoutReason { .. } => "without_reason",
            Self::Exit { .. } => "exit",
            Self::RequirementUnmet { .. } => "requirement_unmet",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTests => write!(f, "no test was selected, so nothing is proven"),
            Self::BadLine { line, message } => write!(f, "line {line} of the report is not a record: {message}"),
            Self::WithoutRecord { test } => write!(f, "`{test}` is in the suite, but left no record"),
            Self::Unknown { test } => write!(f, "the report has a record of `{test}`, which is not in the suite"),
            Self::Repeated { test } => write!(f, "the report has several records of `{test}`"),
            Self::FalsePass { test, why } => write!(f, "`{test}` is recorded as passed, but {why}"),
            Self::WithoutReason { test } => write!(f, "`{test}` did not pass and gives no reason"),
            Self::Exit { message } => f.write_str(message),
            Self::RequirementUnmet { requirement } => {
                write!(f, "`{requirement}` is required, but no numeric check passed on such a device")
            }
        }
    }
}
