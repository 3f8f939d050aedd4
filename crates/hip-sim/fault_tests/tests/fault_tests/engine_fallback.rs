//! An engine that was built for HIP and computes on the CPU: its column is `rocm`, the fallback is
//! marked, and no check of numbers passes.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use std::path::Path;
use testgen_types::{DeviceKind, EntryStatus, ReportEntry};

const TEST: &str = "encoder_only::bert::rocm::output_golden_f32@scripted";

pub(crate) fn check() {
    for (required, status) in [("", EntryStatus::Ignored), ("rocm-sim", EntryStatus::Fail)] {
        let entry = entry(required);
        let reason = entry.reason.as_deref().unwrap_or_default();
        assert_eq!(entry.status, status, "`{required}`: {reason}");
        assert!(
            entry.fallback && entry.device == DeviceKind::Rocm,
            "`{required}`: {entry:?}"
        );
        assert_eq!(
            entry.engine_versions.as_deref(),
            Some("scripted 1 (HIP build)")
        );
        assert!(
            reason.contains("computes on the CPU: its HIP 6.4 sees no GPU"),
            "`{required}`: {reason}"
        );
    }
}

/// The report entry of the check with a value of `TESTGEN_REQUIRE`.
fn entry(required: &str) -> ReportEntry {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/tests/scripted.py");
    let variables = [
        ("HIP_SIM_DEVICES", "gfx1100"),
        ("TESTGEN_ENGINES", "scripted"),
        ("TESTGEN_ENGINE_SCRIPTED", program.to_str().unwrap()),
        ("TESTGEN_SCRIPT", "hip_fallback"),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", required),
    ];
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Empty,
        &variables,
        &["--exact", TEST],
    );
    let lines = std::fs::read_to_string(&report).unwrap_or_default();
    let line = lines
        .lines()
        .next()
        .unwrap_or_else(|| panic!("the report is empty\n{}", subprocess::text(&output)));
    serde_json::from_str(line).unwrap()
}
