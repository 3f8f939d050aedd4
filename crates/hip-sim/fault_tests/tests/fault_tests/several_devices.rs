//! Models and operators that several devices compute together, on four simulated ones.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use testgen_types::{EntryStatus, ReportEntry};

/// Four devices.
const DEVICES: &str = "gfx1100;gfx1100;gfx1100;gfx1100";

/// Bert has two layers; the second one is on the third device.
const SPLIT: &str = "encoder_only::bert::rocm::output_golden_f32@native/split";

/// Each row crosses from the device of every rank to the device of every other one.
const COLLECTIVES: &str = "operators::collective::rocm::forward_f32@native/split";

/// Faults of the device that has the second layer.
const BROKEN: &[&str] = &[
    "2/peer=0",
    "2/peer=64",
    "2/wrong=layer_norm",
    "2/nan=layer_norm",
    "2/idle=layer_norm",
    "2/launch=layer_norm",
    "2/allocate=1",
];

pub(crate) fn check() {
    for test in [SPLIT, COLLECTIVES] {
        let entry = entry(DEVICES, test, "");
        assert_eq!(entry.status, EntryStatus::Pass, "{:?}", entry.reason);
        let devices = entry.memory.and_then(|memory| memory.devices);
        assert!(test == COLLECTIVES || devices == Some(4), "{devices:?}");
    }
    let alone = entry("gfx1100", SPLIT, "");
    assert_eq!(alone.status, EntryStatus::Ignored);
    let reason = alone.reason.unwrap_or_default();
    assert!(reason.contains("rocm:0 is the only one"), "{reason}");
}

/// One broken device of four fails what all of them compute, and the columns of the others pass.
pub(crate) fn check_broken() {
    for fault in BROKEN {
        let entry = entry(DEVICES, SPLIT, fault);
        assert_eq!(entry.status, EntryStatus::Fail, "{fault}");
    }
    assert_eq!(
        entry(DEVICES, COLLECTIVES, "1/peer=4").status,
        EntryStatus::Fail
    );
}

/// The report entry of a check on simulated devices with a fault.
fn entry(devices: &str, test: &str, fault: &str) -> ReportEntry {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Warm,
        &[
            ("HIP_SIM_DEVICES", devices),
            ("HIP_SIM_FAULTS", fault),
            ("TESTGEN_ENGINES", "native/split"),
            ("TESTGEN_DEVICE", "rocm:0"),
            ("TESTGEN_REPORT", report.to_str().unwrap()),
        ],
        &["--exact", test],
    );
    let lines = std::fs::read_to_string(&report).unwrap();
    let line = lines
        .lines()
        .next()
        .unwrap_or_else(|| panic!("the report is empty\n{}", subprocess::text(&output)));
    serde_json::from_str(line).unwrap()
}
