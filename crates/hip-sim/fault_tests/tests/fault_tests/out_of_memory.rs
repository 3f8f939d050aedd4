//! A device without enough memory, by a limit on its allocator: each check that needs more fails
//! and names the sizes, the process goes on, and checks that need less pass.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use std::collections::BTreeSet;
use testgen_types::{EntryStatus, ReportEntry};

/// Limits in MiB, in the order of what does not fit: the first kernel, the probe, weights,
/// activations, the cache of a session.
const LIMITS: &[&str] = &[
    "0.002", "0.006", "0.01", "0.02", "0.03", "0.04", "0.05", "0.06", "0.08", "0.1", "0.12",
    "0.16", "0.2", "0.3", "0.4",
];

/// The checks that run with each limit, several in one process.
const FILTERS: &[&str] = &[
    "encoder_only::bert::rocm::output_golden",
    "decoder_only::gpt2::rocm::g",
    "decoder_only::gpt2::rocm::d",
];

/// The smallest number of allocations that fail in different places, which differ in size.
const PLACES: usize = 10;

/// Every limit leads to named failures in every check that it affects, and to no abort.
pub(crate) fn check() {
    let mut places = BTreeSet::new();
    let mut continued = 0;
    for filter in FILTERS {
        for limit in LIMITS {
            let entries = entries(filter, limit);
            places.extend(entries.iter().filter_map(|entry| place(entry, limit)));
            let after_failure = entries
                .iter()
                .skip_while(|entry| entry.status == EntryStatus::Pass);
            continued += usize::from(
                after_failure
                    .clone()
                    .any(|entry| entry.status == EntryStatus::Pass),
            );
        }
    }
    println!(
        "{} places: {places:?}; {continued} processes passed a check after a failure",
        places.len()
    );
    assert!(
        places.len() >= PLACES,
        "{} places: {places:?}",
        places.len()
    );
    assert!(
        continued > 0,
        "no check passed after one without enough memory"
    );
}

/// The check that failed and the size that it requested, or `None` for a check that passed.
fn place(entry: &ReportEntry, limit: &str) -> Option<String> {
    if entry.status == EntryStatus::Pass {
        return None;
    }
    let reason = entry.reason.clone().unwrap_or_default();
    assert!(
        reason.starts_with("out of memory: "),
        "{limit} MiB, {:?}: {reason:?}",
        entry.check
    );
    for part in [
        " requested; ",
        " are free on the device",
        "TESTGEN_GPU_MEMORY is",
        "would fit",
    ] {
        assert!(
            reason.contains(part),
            "{limit} MiB, {:?}: `{part}` is not in {reason:?}",
            entry.check
        );
    }
    let (size, _) = reason
        .trim_start_matches("out of memory: ")
        .split_once(" were requested")
        .unwrap_or_default();
    Some(format!("{} {size}", entry.model))
}

/// The entries of the checks that `filter` selects, with a limit. A process that aborts has no exit
/// code.
fn entries(filter: &str, limit: &str) -> Vec<ReportEntry> {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let variables = [
        ("TESTGEN_GPU_MEMORY", limit),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Warm,
        &variables,
        &[filter],
    );
    let text = subprocess::text(&output);
    assert!(
        matches!(output.status.code(), Some(0 | 101)),
        "{filter}, {limit} MiB: {}\n{text}",
        output.status
    );
    let lines = std::fs::read_to_string(&report).unwrap();
    let entries: Vec<ReportEntry> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        entries.len() > 1,
        "{filter}, {limit} MiB: the next check did not run\n{text}"
    );
    entries
}
