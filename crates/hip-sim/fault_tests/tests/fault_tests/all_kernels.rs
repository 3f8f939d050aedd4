//! Every product of bert with the naive kernel, which computes the small ones with a transposed
//! factor by rule: without a fault, and with faults that only the processes of the kernel have.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use std::process::{Command, ExitCode};
use testgen_types::{KernelEntry, KernelOutcome, Precision};

/// The variable with the faults of the processes that compute products.
const FAULTS: &str = "HIP_SIM_TEST_KERNEL_FAULTS";

/// Starts the process again with its faults, or `None` for a process without any.
pub(crate) fn with_faults() -> Option<ExitCode> {
    std::env::var_os("TESTGEN_KERNELS_WORKER")?;
    let faults = std::env::var_os(FAULTS)?;
    let mut worker = Command::new(std::env::current_exe().unwrap());
    let status = worker
        .env("HIP_SIM_FAULTS", faults)
        .env_remove(FAULTS)
        .status()
        .unwrap();
    Some(ExitCode::from(status.code().map_or(1, |code| code as u8)))
}

pub(crate) fn check() {
    let entries = entries("");
    assert!(entries.len() > 20, "{}", entries.len());
    for entry in &entries {
        assert_eq!(entry.outcome, KernelOutcome::Correct, "{entry:?}");
        assert!(
            entry.simulated && entry.kernel == "matmul_naive" && entry.model == "bert",
            "{entry:?}"
        );
        assert!(
            entry.headroom.is_none_or(|headroom| headroom >= 1.0),
            "{entry:?}"
        );
    }
    for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
        assert!(
            entries
                .iter()
                .any(|entry| entry.precision == precision && entry.chosen),
            "{precision}"
        );
    }
    assert!(entries.iter().any(|entry| entry.one_head));
    wrong_elements_are_found();
    crashes_lose_nothing_else();
}

fn wrong_elements_are_found() {
    let entries = entries("wrong=matmul_entry");
    let wrong = |entry: &&KernelEntry| entry.outcome == KernelOutcome::Wrong;
    assert_eq!(entries.iter().filter(wrong).count(), entries.len());
    let reason = entries[0].reason.as_deref().unwrap_or_default();
    assert!(
        reason.contains("expected") && reason.contains("are wrong"),
        "{reason}"
    );
    assert!(entries.iter().any(KernelEntry::is_failure));
}

fn crashes_lose_nothing_else() {
    let entries = entries("launch=matmul_entry_lhs_f16");
    for entry in &entries {
        let expected: &[KernelOutcome] = match entry.precision {
            Precision::F16 => &[KernelOutcome::Crashed, KernelOutcome::NotRun],
            _ => &[KernelOutcome::Correct],
        };
        assert!(expected.contains(&entry.outcome), "{entry:?}");
    }
    let crashed = entries
        .iter()
        .filter(|entry| entry.outcome == KernelOutcome::Crashed);
    assert_eq!(crashed.count(), 3);
}

/// The lines of the report, computed with `faults`.
fn entries(faults: &str) -> Vec<KernelEntry> {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let file = report.display().to_string();
    let mut variables = vec![
        ("TESTGEN_KERNELS", "encoder_only::bert::rocm"),
        ("TESTGEN_KERNELS_NAMED", "matmul_naive"),
        ("HIP_SIM_DEVICES", "gfx1100"),
        ("TESTGEN_REPORT", &file),
    ];
    if !faults.is_empty() {
        variables.push((FAULTS, faults));
    }
    let installation = Installation::new().unwrap();
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Warm,
        &variables,
        &[],
    );
    assert!(output.status.success(), "{}", subprocess::text(&output));
    let text = std::fs::read_to_string(report).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
