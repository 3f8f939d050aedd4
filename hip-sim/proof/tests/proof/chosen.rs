//! `TESTGEN_DEVICE` names one of two devices, and the record says that this one computed.

use crate::child::{self, Kept};
use hip_sim_proof::Installation;
use testgen_contract::{Record, RecordStatus};

const TEST: &str = "encoder_only::bert::rocm::finite_f32";

pub(crate) fn check() {
    // Without a choice the suite takes the one with more memory, the second.
    for (choice, name) in [("", "Second"), ("rocm:0", "First"), ("rocm:1", "Second")] {
        let record = record(choice);
        assert_eq!(record.status, RecordStatus::Pass, "`{choice}`: {:?}", record.reason);
        assert!(record.device_name.as_deref().is_some_and(|told| told.contains(name)), "`{choice}`: {record:?}");
    }
    let absent = record("rocm:2");
    assert_eq!(absent.status, RecordStatus::Fail);
    assert!(absent.reason.as_deref().is_some_and(|reason| reason.contains("there is no rocm:2")), "{absent:?}");
}

fn record(choice: &str) -> Record {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let variables = [
        ("HIP_SIM_DEVICES", "gfx1100,memory=1024,name=First;gfx1100,name=Second"),
        ("TESTGEN_DEVICE", choice),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let output = child::run(child::SUITE, &installation, Kept::Healthy, &variables, &["--exact", TEST]);
    let lines = std::fs::read_to_string(&report).unwrap();
    let line = lines.lines().next().unwrap_or_else(|| panic!("no record\n{}", child::text(&output)));
    serde_json::from_str(line).unwrap()
}
