//! What a finished run proves: its records against the suite's list, the way it ended, and what was required.

use super::{Execution, Listing, Requirement, Selection};
use crate::expected_failure::ExpectedFailures;
use crate::report::{Problem, ReportError, Summary, judge, read_lines};
use std::path::Path;
use testgen_contract::{Record, RecordStatus};

/// Reads the report of a run and judges it. Only records of selected tests are counted.
///
/// # Errors
///
/// When the report cannot be read.
pub fn verdict(
    report: &Path,
    listing: &Listing,
    selection: &Selection,
    execution: &Execution,
    required: &[Requirement],
    expected: &ExpectedFailures,
) -> Result<Summary, ReportError> {
    let lines = read_lines(report)?;
    let mut problems = lines.problems;
    problems.extend(exit_problem(execution, &lines.records));
    problems.extend(judge(&lines.records, listing, &selection.tests));
    let is_selected = |record: &Record| selection.tests.contains(&record.test_name());
    let records: Vec<Record> = lines.records.into_iter().filter(is_selected).collect();
    let unmet = required.iter().filter(|requirement| !requirement.is_shown_by(&records));
    problems.extend(unmet.map(|requirement| Problem::RequirementUnmet { requirement: requirement.to_string() }));
    Ok(Summary::new(&records, problems, expected))
}

/// The exit code must say the same as the records; a crash says something else.
fn exit_problem(execution: &Execution, records: &[Record]) -> Option<Problem> {
    let failed = records.iter().any(|record| record.status == RecordStatus::Fail);
    let message = match (execution.status.code(), failed) {
        (Some(0), false) | (Some(1..), true) => return None,
        (Some(0), true) => "the test binary reports success, although a check failed".to_owned(),
        _ => format!("the test binary ended with {}; see `{}`", execution.status, execution.log.display()),
    };
    Some(Problem::Exit { message })
}
