//! One fault, one check of a generated harness, and what it says. None may end in an abort, a hang or a pass.

use crate::child::{self, Kept};
use hip_sim_proof::{COMPILER, Damage, Installation, RUNTIME};
use testgen_contract::{Record, RecordStatus};

/// A fault and what is made of it.
pub(crate) struct Row {
    /// A short name, for the test and the table.
    pub(crate) name: &'static str,
    /// What is wrong with the installation.
    pub(crate) damage: &'static [Damage],
    /// What the simulator is told.
    pub(crate) variables: &'static [(&'static str, &'static str)],
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
    damaged(
        "runtime library missing",
        &[Damage::Missing(RUNTIME)],
        "no libamdhip64.so in ROCM_PATH, HIP_PATH or the loader's path",
    ),
    damaged(
        "compiler library missing",
        &[Damage::Missing(COMPILER)],
        "libhiprtc.so, which compiles the kernels, is not found",
    ),
    damaged("runtime library truncated", &[Damage::Truncated(RUNTIME)], "does not load (it is cut off after"),
    damaged(
        "old version",
        &[Damage::Lacks(RUNTIME, "hipGetDevicePropertiesR0600")],
        "is too old, it lacks `hipGetDevicePropertiesR0600`",
    ),
    damaged(
        "symbol missing",
        &[Damage::Lacks(RUNTIME, "hipMemcpy2DAsync")],
        "lacks `hipMemcpy2DAsync`, without which burn aborts",
    ),
    damaged(
        "symbol of the compiler missing",
        &[Damage::Lacks(COMPILER, "hiprtcGetCode")],
        "lacks `hiprtcGetCode`, without which burn aborts",
    ),
    damaged(
        "hipconfig complains",
        &[Damage::Hipconfig("echo warning >&2; echo /opt/rocm")],
        "writes to standard error (`warning`), on which burn panics",
    ),
    damaged("hipconfig fails", &[Damage::Hipconfig("exit 1")], "hipconfig -p` fails"),
    played(
        "no device",
        faults!("no-device"),
        GOLDEN,
        "lists no device (hipGetDeviceCount: error 100, hipErrorNoDevice)",
    ),
    played(
        "all devices hidden",
        &[("HIP_VISIBLE_DEVICES", "-1")],
        GOLDEN,
        "HIP_VISIBLE_DEVICES=`-1` (HIP): hides every device",
    ),
    played(
        "unknown architecture",
        faults!("architecture=gfx950"),
        GOLDEN,
        "burn 0.21 does not support gfx950, and panics on it",
    ),
    played(
        "wrong wave size",
        faults!("wave=64"),
        GOLDEN,
        "the runtime says wave size 64 for gfx1100, burn insists on 32",
    ),
    played("allocation fails", faults!("allocate=2"), GOLDEN, "the device's thread panicked, its results are void"),
    compiling("compilation fails", faults!("compile="), GOLDEN, "running the first kernel failed"),
    compiling("compilation of a reduction fails", faults!("compile=reduce"), GOLDEN, "compilation fails on demand"),
    compiling(
        "no compiler",
        &[("HIP_SIM_CXX", "no-such-compiler")],
        GOLDEN,
        "cannot start the C++ compiler `no-such-compiler`",
    ),
    played("code object does not load", faults!("load="), GOLDEN, "Unable to load the function in the compiled module"),
    played("launch fails", faults!("launch="), GOLDEN, "running the first kernel failed"),
    played("launch of a reduction fails", faults!("launch=reduce"), GOLDEN, "Unable to launch kernel"),
    played("kernels do nothing", faults!("idle="), GOLDEN, "element 1 is 0, expected 2; 1002 of 1003 are wrong"),
    played("reductions do nothing", faults!("idle=reduce"), GOLDEN, "NaN or infinity differs from the reference"),
    played("one element wrong everywhere", faults!("wrong="), GOLDEN, "checking the answer of the first kernel failed"),
    played("one element of a reduction wrong", faults!("wrong=reduce"), GOLDEN, "`last_hidden_state`"),
    played(
        "memory leaks until it is used up",
        &[("HIP_SIM_DEVICES", "gfx1100,memory=64"), ("HIP_SIM_FAULTS", "leak")],
        "memory_released",
        "the device's thread panicked, its results are void",
    ),
    played("sums of f16 do not launch", faults!["launch=kernel_binop_c_f16"], "half_probe_f16", "wrong (sums fail"),
    played(
        "matrix products of f16 do not launch",
        faults!["launch=matmul_entry_lhs_f16"],
        "half_probe_f16",
        "matrix products fail",
    ),
    played("one element of a reduction is NaN", faults!("nan=reduce"), "finite_f32", "elements are not finite"),
    compiling(
        "half precision truncates",
        faults!("half=truncate"),
        "output_golden_f16",
        "this device does not compute `f16` correctly",
    ),
    played(
        "kernels too slow",
        &[("HIP_SIM_FAULTS", "slow="), ("TESTGEN_OPEN_TIMEOUT", "3")],
        GOLDEN,
        "no answer within 3 s",
    ),
    played(
        "panic on the device thread",
        faults!("event=3"),
        GOLDEN,
        "the device's thread panicked, its results are void",
    ),
    played("copy to the host fails", faults!("copy=2"), GOLDEN, "the device's thread panicked, its results are void"),
    played(
        "memory not told",
        faults!("memory-info"),
        "memory_released",
        "Should get the available memory of the device",
    ),
    played(
        "second device broken, first fine",
        &[("HIP_SIM_DEVICES", "gfx1100,memory=1024;gfx1100"), ("HIP_SIM_FAULTS", "1/launch=")],
        GOLDEN,
        "(rocm:1) cannot be opened",
    ),
    played(
        "a real GPU is required",
        &[("TESTGEN_REQUIRE", "rocm")],
        GOLDEN,
        "TESTGEN_REQUIRE=rocm refuses `AMD gfx1100 (hip-sim)`, a simulation",
    ),
];

/// Makes the check under the fault and holds what it says against the row.
pub(crate) fn check(row: &Row) {
    let (record, told) = observe(row);
    assert_eq!(record.status, RecordStatus::Fail, "{}: not red\n{told}", row.name);
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
    assert_eq!(
        output.status.code(),
        Some(101),
        "{}: {}, and neither green nor an abort was to be\n{told}",
        row.name,
        output.status
    );
    let lines = std::fs::read_to_string(&report).unwrap();
    (serde_json::from_str(lines.lines().next().unwrap()).unwrap(), told)
}
