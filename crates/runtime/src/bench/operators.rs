//! The measurement of one case of an operator.

use super::row::{BenchRow, NoTime};
use crate::check::{Agreement, CheckedCase};
use testgen_operators::calls::{CallError, Execute};
use testgen_types::{BenchRequest, Measured};

/// The time of a case, if its result agrees with the reference.
pub(super) fn row(checked: &CheckedCase<'_>, request: &BenchRequest) -> BenchRow {
    let CheckedCase {
        operators, case, ..
    } = checked;
    let times = match &checked.agreement {
        Agreement::Agrees => operators
            .time(&case.call, request.repetitions)
            .map_err(no_time),
        Agreement::Differs(reason) => Err(NoTime::Failed(reason.clone())),
        Agreement::NotComputed(reason) => Err(NoTime::NotComputed(reason.clone())),
    };
    BenchRow {
        case: Some(format!("{} {}", case.call.operator, case.description())),
        ..BenchRow::timed(Measured::Operator, times)
    }
}

fn no_time(error: CallError) -> NoTime {
    match error {
        CallError::Unsupported { message, .. } => NoTime::NotComputed(message),
        error => NoTime::Failed(error.to_string()),
    }
}
