//! The measurement of one case of an operator.

use super::{
    energy::EnergyMeter,
    row::{BenchRow, NoTime},
};
use crate::check::{Agreement, CheckedCase};
use testgen_operators::calls::{CallError, Execute};
use testgen_types::{BenchRequest, Measured};

/// The time of a case, if its result agrees with the reference.
pub(super) fn row(
    checked: &CheckedCase<'_>,
    request: &BenchRequest,
    energy: &EnergyMeter,
) -> BenchRow {
    let row = energy.measured(|| BenchRow::timed(Measured::Operator, times(checked, request)));
    let case = checked.case;
    BenchRow {
        case: Some(format!("{} {}", case.call.operator, case.description())),
        ..row
    }
}

fn times(checked: &CheckedCase<'_>, request: &BenchRequest) -> Result<Vec<f64>, NoTime> {
    let CheckedCase {
        operators, case, ..
    } = checked;
    match &checked.agreement {
        // A wrong result may be fast because it computes less.
        Agreement::Agrees => operators
            .time(&case.call, request.repetitions)
            .map_err(no_time),
        Agreement::Differs(reason) => Err(NoTime::Failed(reason.clone())),
        Agreement::NotComputed(reason) => Err(NoTime::NotComputed(reason.clone())),
    }
}

fn no_time(error: CallError) -> NoTime {
    match error {
        CallError::Unsupported { message, .. } => NoTime::NotComputed(message),
        error => NoTime::Failed(error.to_string()),
    }
}
