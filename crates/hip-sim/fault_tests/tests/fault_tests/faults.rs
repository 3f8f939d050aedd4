//! One fault, one check of a generated harness, and the reason that it reports. An abort, a hang or
//! a pass fails the test.

mod cases;
mod fault_case;

pub(crate) use cases::CASES;
pub(crate) use fault_case::FaultCase;

use crate::subprocess;
use hip_sim_fault_tests::Installation;
use testgen_types::{EntryStatus, ReportEntry};

/// Runs the check under the fault and asserts that it fails with the expected reason.
pub(crate) fn check(case: &FaultCase) {
    let (entry, output) = run(case);
    assert_eq!(
        entry.status,
        EntryStatus::Fail,
        "{}: the check did not fail\n{output}",
        case.name
    );
    let reason = entry.reason.unwrap_or_default();
    assert!(reason.contains(case.reason), "{}: {reason}", case.name);
}

/// The report entry of the check, and the output of its process.
fn run(case: &FaultCase) -> (ReportEntry, String) {
    let installation = Installation::corrupted(case.corruptions).unwrap();
    let report = installation.root().join("report.jsonl");
    let test = format!("{}::rocm::{}", case.harness, case.check);
    let mut variables = vec![
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    variables.extend_from_slice(case.variables);
    let finished = subprocess::run(
        subprocess::SUITE,
        &installation,
        case.cache,
        &variables,
        &["--exact", &test],
    );
    let output = subprocess::text(&finished);
    // The exit code of libtest for a failed test. An abort has no exit code.
    assert_eq!(
        finished.status.code(),
        Some(101),
        "{}: {}, expected exit code 101\n{output}",
        case.name,
        finished.status
    );
    let lines = std::fs::read_to_string(&report).unwrap();
    (
        serde_json::from_str(lines.lines().next().unwrap()).unwrap(),
        output,
    )
}
