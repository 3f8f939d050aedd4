//! `TESTGEN_DEVICE` selects one of several devices, and the report names the selected one.

use crate::subprocess::{self, CacheState};
use hip_sim_fault_tests::Installation;
use testgen_types::{EntryStatus, ReportEntry};

const TEST: &str = "encoder_only::bert::rocm::finite_f32";

/// Two devices of one architecture, and two others.
const TWO: &str = "gfx1100,memory=1024,name=First;gfx1100,name=Second";
const FOUR: &str = "gfx1100,pci=0000:03:00.0;gfx1100,pci=0000:04:00.0;gfx90a;gfx1030";

/// One broken device of four fails, and another one of the same name passes.
pub(crate) fn check_broken() {
    let test = "encoder_only::bert::rocm::output_golden_f32";
    let entries: Vec<ReportEntry> = (0..4)
        .map(|index| {
            let selection = format!("rocm:{index}");
            let variables = [
                ("HIP_SIM_FAULTS", "1/wrong=layer_norm"),
                ("TESTGEN_DEVICE", selection.as_str()),
            ];
            entry(FOUR, test, &variables)
        })
        .collect();
    for (index, entry) in (0..).zip(&entries) {
        let expected = if index == 1 {
            EntryStatus::Fail
        } else {
            EntryStatus::Pass
        };
        assert_eq!(
            (entry.device_index, entry.status),
            (Some(index), expected),
            "{:?}",
            entry.reason
        );
    }
    assert_eq!(entries[0].device_name, entries[1].device_name);
    let address = |index: usize| {
        entries[index]
            .hardware
            .as_ref()
            .and_then(|hardware| hardware.pci_address.clone())
    };
    assert_eq!(address(0).as_deref(), Some("0000:03:00.0"));
    assert_eq!(address(1).as_deref(), Some("0000:04:00.0"));
}

pub(crate) fn check() {
    // Without a selection the suite takes the device with more memory, the second.
    for (selection, name) in [("", "Second"), ("rocm:0", "First"), ("rocm:1", "Second")] {
        let entry = entry(TWO, TEST, &[("TESTGEN_DEVICE", selection)]);
        assert_eq!(
            entry.status,
            EntryStatus::Pass,
            "`{selection}`: {:?}",
            entry.reason
        );
        assert!(
            entry
                .device_name
                .as_deref()
                .is_some_and(|device| device.contains(name)),
            "`{selection}`: {entry:?}"
        );
    }
    let absent = entry(TWO, TEST, &[("TESTGEN_DEVICE", "rocm:2")]);
    assert_eq!(absent.device_index, Some(2));
    assert_eq!(absent.status, EntryStatus::Fail);
    assert!(
        absent
            .reason
            .as_deref()
            .is_some_and(|reason| reason.contains("there is no rocm:2")),
        "{absent:?}"
    );
}

/// The report entry of a check on simulated devices with some variables.
fn entry(devices: &str, test: &str, variables: &[(&str, &str)]) -> ReportEntry {
    let installation = Installation::new().unwrap();
    let report = installation.root().join("report.jsonl");
    let common = [
        ("HIP_SIM_DEVICES", devices),
        ("TESTGEN_REPORT", report.to_str().unwrap()),
        ("TESTGEN_REQUIRE", "rocm-sim"),
    ];
    let variables = [&common[..], variables].concat();
    let output = subprocess::run(
        subprocess::SUITE,
        &installation,
        CacheState::Warm,
        &variables,
        &["--exact", test],
    );
    let lines = std::fs::read_to_string(&report).unwrap();
    let line = lines
        .lines()
        .next()
        .unwrap_or_else(|| panic!("the report is empty\n{}", subprocess::text(&output)));
    serde_json::from_str(line).unwrap()
}
