//! The outcome of a run: its report compared with the suite's tests, the exit status and the
//! required devices.

use super::{Execution, Listing, SuitePart};
use crate::results::{
    expected_failure::ExpectedFailures,
    read::{ReportError, ReportProblem, Summary, find_problems, read_lines},
};
use std::collections::BTreeMap;
use testgen_types::{Check, DeviceKind, EntryStatus, ReportEntry, Requirement};

/// A finished run.
#[derive(Debug)]
pub struct Run<'a> {
    /// All tests of the suite.
    pub listing: &'a Listing,
    /// The tests that had to run, by process.
    pub parts: &'a [SuitePart],
    /// The exit status, the report and the log of each process.
    pub executions: &'a [Execution],
    /// The devices that had to run.
    pub required: &'a [Requirement],
}

/// Reads and evaluates the reports of a run. Only entries of selected tests are counted.
///
/// # Errors
///
/// When a report cannot be read.
pub fn summarize(run: &Run<'_>, expected: &ExpectedFailures) -> Result<Summary, ReportError> {
    let mut problems = Vec::new();
    let mut entries: Vec<ReportEntry> = Vec::new();
    for (part, execution) in run.parts.iter().zip(run.executions) {
        let lines = read_lines(execution.report())?;
        let tests = &part.selection.tests;
        problems.extend(lines.problems);
        problems.extend(exit_problem(execution, &lines.entries));
        problems.extend(find_problems(&lines.entries, run.listing, tests));
        entries.extend(
            lines
                .entries
                .into_iter()
                .filter(|entry| tests.contains(&entry.test_name())),
        );
    }
    // Of all processes together, because another one may have computed the model.
    problems.extend(not_computed(&entries));
    let unmet = run
        .required
        .iter()
        .filter(|requirement| !requirement.is_met_by(&entries));
    problems.extend(unmet.map(|requirement| ReportProblem::RequirementUnmet {
        requirement: requirement.to_string(),
    }));
    Ok(Summary::new(&entries, problems, expected))
}

/// The models and sets of operators that were computed in no column of the CPU.
fn not_computed(entries: &[ReportEntry]) -> Vec<ReportProblem> {
    // Two checks that compute every model, because a spec may skip one, and the one that computes
    // operators. Others compare inputs and files.
    let computing = [Check::Finite, Check::OutputGolden, Check::Forward];
    // On the CPU an ignored check means that the engines lack the model; on a GPU it can also mean
    // that the device is absent, which `--require` reports.
    let on_cpu = entries
        .iter()
        .filter(|entry| entry.device == DeviceKind::Cpu && computing.contains(&entry.check));
    let mut of_models: BTreeMap<&str, Vec<&ReportEntry>> = BTreeMap::new();
    for entry in on_cpu {
        of_models.entry(&entry.model).or_default().push(entry);
    }
    let lacking = of_models.into_iter().filter(|(_, entries)| {
        entries
            .iter()
            .all(|entry| entry.status == EntryStatus::Ignored)
    });
    lacking
        .map(|(model, entries)| {
            let reason = entries
                .iter()
                .find_map(|entry| entry.reason.clone())
                .unwrap_or_default();
            ReportProblem::NotComputed {
                model: model.to_owned(),
                reason,
            }
        })
        .collect()
}

/// A contradiction between exit status and entries; a crash is one.
fn exit_problem(execution: &Execution, entries: &[ReportEntry]) -> Option<ReportProblem> {
    let failed = entries
        .iter()
        .any(|entry| entry.status == EntryStatus::Fail);
    let message = match (execution.status.code(), failed) {
        // Both sides have to agree: a suite that crashes after its last entry, or whose entries
        // were lost, is not green.
        (Some(0), false) | (Some(1..), true) => return None,
        (Some(0), true) => "the test binary reports success, although a check failed".to_owned(),
        _ => format!(
            "the test binary ended with {}; see `{}`",
            execution.status,
            execution.log.display()
        ),
    };
    Some(ReportProblem::Exit { message })
}

#[cfg(test)]
mod tests {
    use super::not_computed;
    use crate::results::read::parse_lines;

    #[test]
    fn operators_that_no_engine_computes_on_the_cpu_are_a_problem() {
        let problems = |statuses: [&str; 2]| {
            let line = |status: &str| {
                format!(
                    r#"{{"version":1,"model":"gemm","architecture":"operators","device":"cpu","check":"forward","precision":"f32","status":"{status}","reason":"absent","milliseconds":1}}"#
                )
            };
            let lines = parse_lines(&statuses.map(line).join("\n"));
            assert!(lines.problems.is_empty(), "{:?}", lines.problems);
            not_computed(&lines.entries).len()
        };
        assert_eq!(problems(["ignored", "ignored"]), 1);
        assert_eq!(problems(["ignored", "pass"]), 0);
    }
}
