//! One fault, one check of a generated harness, and what it says. None may end in an abort, a hang or a pass.

use crate::child::{self, Kept};
use hip_sim_proof::{COMPILER, Damage, Installation, RUNTIME};
use testgen_contract::{Record, RecordStatus};

/// A fault and what is made of it.
pub(crate) struct Row {
    /// A short name, for the test and the table.
    pub(crate) name: &'static str,
    /// What is wrong with the installation.
    damage: &'static [Damage],
    /// What the simulator is told.
    variables: &'static [(&'static str, &'static str)],
    /// What burn has kept, which hides faults of compiling.
    kept: Kept,
    /// The check that is made, of bert.
    pub(crate) check: &'static str,
    /// A part of the reason that the record gives.
    pub(crate) says: &'static str,
}

/// A fault that the simulator plays.
const fn played(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    check: &'static str,
    says: &'static str,
) -> Row {
    Row { name, damage: &[], variables, kept: Kept::Healthy, check, says }
}

/// A fault that shows only when kernels are compiled.
const fn compiling(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
    check: &'static str,
    says: &'static str,
) -> Row {
    Row { name, damage: &[], variables, kept: Kept::Nothing, check, says }
}

/// A fault of the installation.
const fn damaged(name: &'static str, damage: &'static [Damage], says: &'static str) -> Row {
    Row { name, damage, variables: &[], kept: Kept::Nothing, check: "output_golden_f32", says }
}

macro_rules! faults {
    ($($text:literal),+) => { &[$(("HIP_SIM_FAULTS", $text)),+] };
}

const GOLDEN: &str = "output_golden_f32";

/// Every fault.
pub(crate) const ROWS: &[Row] = &[
    damaged("runtime library missing", &[Damage::Missing(RUNTIME)], "?"),
    damaged("compiler library missing", &[Damage::Missing(COMPILER)], "?"),
    damaged("runtime library truncated", &[Damage::Truncated(RUNTIME)], "?"),
    damaged("old version", &[Damage::Lacks(RUNTIME, "hipGetDevicePropertiesR0600")], "?"),
    damaged("symbol missing", &[Damage::Lacks(RUNTIME, "hipMemcpy2DAsync")], "?"),
    damaged("symbol of the compiler missing", &[Damage::Lacks(COMPILER, "hiprtcGetCode")], "?"),
    damaged("hipconfig complains", &[Damage::Hipconfig("echo warning >&2; echo /opt/rocm")], "?"),
    damaged("hipconfig fails", &[Damage::Hipconfig("exit 1")], "?"),
    played("no device", faults!("no-device"), GOLDEN, "?"),
    played("all devices hidden", &[("HIP_VISIBLE_DEVICES", "-1")], GOLDEN, "?"),
    played("unknown architecture", faults!("architecture=gfx950"), GOLDEN, "?"),
    played("wrong wave size", faults!("wave=64"), GOLDEN, "?"),
    played("allocation fails", faults!("allocate=2"), GOLDEN, "?"),
    played("out of memory", &[("HIP_SIM_DEVICES", "gfx1100,memory=1")], GOLDEN, "?"),
    compiling("compilation fails", faults!("compile="), GOLDEN, "?"),
    compiling("compilation of a reduction fails", faults!("compile=reduce"), GOLDEN, "?"),
    compiling("no compiler", &[("HIP_SIM_CXX", "no-such-compiler")], GOLDEN, "?"),
    played("code object does not load", faults!("load="), GOLDEN, "?"),
    played("launch fails", faults!("launch="), GOLDEN, "?"),
    played("launch of a reduction fails", faults!("launch=reduce"), GOLDEN, "?"),
    played("kernels do nothing", faults!("idle="), GOLDEN, "?"),
    played("reductions do nothing", faults!("idle=reduce"), GOLDEN, "?"),
    played("one element wrong everywhere", faults!("wrong="), GOLDEN, "?"),
    played("one element of a reduction wrong", faults!("wrong=reduce"), GOLDEN, "?"),
    played("one element of a reduction is NaN", faults!("nan=reduce"), "finite_f32", "?"),
    compiling("half precision flushes subnormal numbers", faults!("half=flush"), "half_probe_f16", "?"),
    compiling("half precision truncates", faults!("half=truncate"), "output_golden_f16", "?"),
    played("kernels too slow", &[("HIP_SIM_FAULTS", "slow="), ("TESTGEN_OPEN_TIMEOUT", "3")], GOLDEN, "?"),
    played("panic on the device thread", faults!("event=3"), GOLDEN, "?"),
    played("copy to the host fails", faults!("copy=2"), GOLDEN, "?"),
    played("memory leak", faults!("leak"), "memory_released", "?"),
    played("memory not told", faults!("memory-info"), "memory_released", "?"),
    played(
        "second device broken, first fine",
        &[("HIP_SIM_DEVICES", "gfx1100,memory=1024;gfx1100"), ("HIP_SIM_FAULTS", "1/launch=")],
        GOLDEN,
        "?",
    ),
    played("a real GPU is required", &[("TESTGEN_REQUIRE", "rocm")], GOLDEN, "?"),
];

/// Makes the check under the fault and holds what it says against the row.
pub(crate) fn check(row: &Row) {
    let (record, told) = observe(row);
    assert_ne!(record.status, RecordStatus::Pass, "{}: a pass\n{told}", row.name);
    let reason = record.reason.unwrap_or_default();
    assert!(reason.contains(row.says), "{}: {reason}", row.name);
}

fn observe(row: &Row) -> (Record, String) {
    let installation = Installation::damaged(row.damage).unwrap();
    let report = installation.root().join("report.jsonl");
    let test = format!("encoder_only::bert::rocm::{}", row.check);
    let mut variables = vec![("TESTGEN_REPORT", report.to_str().unwrap()), ("TESTGEN_REQUIRE", "rocm-sim")];
    variables.extend_from_slice(row.variables);
    let output = child::run(child::SUITE, &installation, row.kept, &variables, &["--exact", &test]);
    let told = child::text(&output);
    assert_eq!(output.status.code(), Some(101), "{}: neither green nor an abort\n{told}", row.name);
    let lines = std::fs::read_to_string(&report).unwrap();
    (serde_json::from_str(lines.lines().next().unwrap()).unwrap(), told)
}
