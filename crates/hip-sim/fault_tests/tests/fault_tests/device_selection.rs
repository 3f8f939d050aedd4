//! `TESTGEN_DEVICE` selects one of two devices, and the report names the selected one.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use testgen_types::{EntryStatus, ReportEntry};

const TEST: &str = "encoder_only::bert::rocm::finite_f32";

pub(crate) fn check() {
    // Without a selection the suite takes the device with more memory, the second.
    for (selection, name) in [("", "Second"), ("rocm:0", "First"), ("rocm:1", "Second")] {
        let entry = entry(selection);
        assert_eq!(entry.status, EntryStatus::Pass, "`{selection}`: {:?}", entry.reason);
        assert!(entry.device_name.as_deref().is_some_and(|device| device.contains(name)), "`{selection}`: {entry:?}");
    }
    let absent = entry("rocm:2");
    assert_eq!(absent.status, EntryStatus::Fail);
    assert!(absent.reason.as_deref().is_some_and(|reason| reason.contains("there is no rocm:2")), "{absent:?}");
}

/// The report entry of the check with a value of the variable.
fn entry(selection: &str) -> ReportEntry {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let variables = [
        ("HIP_SIM_DEVICES", "gfx1100,memory=1024,name=First;gfx1100,name=Second"),
        ("TESTGEN_DEVICE", selection),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let output = subprocess::run(subprocess::SUITE, &installation, CacheState::Warm, &variables, &["--exact", TEST]);
    let lines = std::fs::read_to_string(&report).unwrap();
    let line = lines.lines().next().unwrap_or_else(|| panic!("the report is empty\n{}", subprocess::text(&output)));
    serde_json::from_str(line).unwrap()
}
