//! A GPU that burn does not support: an engine that is a process computes on it, and the native
//! column says why it does not.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use std::path::Path;
use testgen_types::{EntryStatus, ReportEntry};

const TEST: &str = "encoder_only::bert::rocm::output_golden_f32";

/// The memory of a simulated device is that of one process, so that it does not show the engine's.
const FAULTS: &str = "architecture=gfx950,memory-info";

pub(crate) fn check() {
    for (required, status) in [("", EntryStatus::Ignored), ("rocm-sim", EntryStatus::Fail)] {
        let entries = entries(required);
        let [native, engine] = ["", "scripted"].map(|name| {
            let of_column =
                |entry: &&ReportEntry| entry.engine.as_deref().unwrap_or_default() == name;
            entries
                .iter()
                .find(of_column)
                .unwrap_or_else(|| panic!("no entry of `{name}`: {entries:?}"))
        });
        let reason = native.reason.as_deref().unwrap_or_default();
        assert_eq!(native.status, status, "`{required}`: {reason}");
        assert!(
            reason.contains("is unusable by burn: burn 0.21 does not support gfx950"),
            "{reason}"
        );
        assert!(
            native.device_name.is_none() && !native.fallback,
            "{native:?}"
        );
        assert_eq!(
            engine.status,
            EntryStatus::Pass,
            "`{required}`: {:?}",
            engine.reason
        );
        assert!(
            engine.simulated && !engine.fallback && !engine.mock,
            "{engine:?}"
        );
        let hardware = engine.hardware.as_ref().unwrap();
        assert_eq!(
            (hardware.architecture.as_deref(), hardware.path.as_deref()),
            (Some("gfx950"), Some("HIP runtime"))
        );
    }
}

/// The report entries of the check on both engines with a value of `TESTGEN_REQUIRE`.
fn entries(required: &str) -> Vec<ReportEntry> {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/tests/scripted.py");
    let variables = [
        ("HIP_SIM_DEVICES", "gfx1100,pci=0000:03:00.0"),
        ("HIP_SIM_FAULTS", FAULTS),
        ("TESTGEN_ENGINES", "native,scripted"),
        ("TESTGEN_ENGINE_SCRIPTED", program.to_str().unwrap()),
        ("TESTGEN_SCRIPT", "on_rocm"),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", required),
    ];
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Empty,
        &variables,
        &[TEST],
    );
    let lines = std::fs::read_to_string(&report).unwrap_or_default();
    let entries: Vec<ReportEntry> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        !entries.is_empty(),
        "the report is empty\n{}",
        subprocess::text(&output)
    );
    entries
}
