//! Kernels are chosen by rule: two cold runs launch the same ones and measure the same errors, bit
//! by bit.

use crate::subprocess;
use serde_json::Value;

/// One with matrix units and one without.
pub(crate) const ARCHITECTURES: &[&str] = &["gfx1100", "gfx90a"];

pub(crate) fn check(architecture: &str) {
    let (first, second) = (record(architecture), record(architecture));
    assert!(first["kernels"].is_string(), "{first}");
    assert_eq!(first["kernels"], second["kernels"]);
    assert_eq!(first["outputs"], second["outputs"]);
}

/// The report's record of a check that ran with an empty cache.
fn record(architecture: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let file = report.display().to_string();
    let variables = [
        ("TESTGEN_REQUIRE", "rocm-sim"),
        ("HIP_SIM_DEVICES", architecture),
        ("TESTGEN_REPORT", &file),
    ];
    let output = subprocess::run_without_fault(&directory.path().join("cache"), &variables);
    assert!(output.status.success(), "{}", subprocess::text(&output));
    serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap()
}
