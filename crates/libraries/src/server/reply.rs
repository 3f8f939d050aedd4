//! Results and errors of the library as the protocol has them.

use crate::report::{AlgorithmRow, UnsupportedGroup};
use testgen_engine::{AlgorithmResults, CallFailure, FailureKind};
use testgen_operators::calls::CallError;

/// A row of a report as a reply has it.
pub(super) fn results(row: &AlgorithmRow) -> AlgorithmResults {
    AlgorithmResults {
        name: format!(
            "{} {} algorithm {}",
            row.arithmetic, row.variant, row.algorithm
        ),
        results: row.results as u64,
        wrong: row.failed as u64,
        headroom: row.headroom,
        problems: row
            .failures
            .iter()
            .map(|failure| {
                format!(
                    "{} [{}]: {}",
                    failure.computation, failure.configuration, failure.problem
                )
            })
            .collect(),
    }
}

pub(super) fn description(group: &UnsupportedGroup) -> String {
    format!(
        "{} of {} {}: {}",
        group.computations, group.arithmetic, group.variant, group.reason
    )
}

pub(super) fn failure(error: CallError) -> CallFailure {
    match error {
        CallError::Unsupported { message, .. } => unsupported(message),
        error => failed(error.to_string()),
    }
}

pub(super) fn failed(message: String) -> CallFailure {
    CallFailure {
        kind: FailureKind::Failed,
        message,
    }
}

pub(super) fn unsupported(message: String) -> CallFailure {
    CallFailure {
        kind: FailureKind::Unsupported,
        message,
    }
}
