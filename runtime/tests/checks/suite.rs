//! The suite's test binary from outside: exit codes, reasons, flags and records. It is this binary, started as a suite.

use crate::{Test, fixture::fixtures, harnesses::bert};
use std::{
    path::Path,
    process::{Command, Output},
    sync::Mutex,
};
use testgen_contract::{Check, DeviceKind, Precision, Record, RecordStatus};
use testgen_runtime::{Checkpoint, DeviceRequest, Endpoint, Harness, Registered};

/// Makes this binary a suite.
pub(crate) const AS_SUITE: &str = "TESTGEN_TEST_AS_SUITE";

/// The harnesses of the suite that the variable names.
pub(crate) fn harnesses(which: &str) -> &'static [&'static Harness] {
    const SUITES: [&[&Harness]; 2] = [&[&HARNESS], &[&KEEPING]];
    match which {
        "sound" => SUITES[0],
        "keeping" => SUITES[1],
        other => panic!("no suite `{other}`"),
    }
}

static HARNESS: Harness = Harness {
    spec: &bert::SPEC,
    init_cpu: bert::init_cpu,
    init_cuda: bert::init_cuda,
    init_rocm: bert::init_rocm,
    checks: &[
        Registered::run(DeviceKind::Cpu, Check::Finite, Precision::F32),
        Registered::run(DeviceKind::Cpu, Check::MemoryReleased, Precision::F32),
        Registered::skip(DeviceKind::Cpu, Check::Determinism, Precision::F32, "to see a skipped one"),
        Registered::run(DeviceKind::Rocm, Check::Finite, Precision::F32),
        Registered::run(DeviceKind::Rocm, Check::FallbackMarked, Precision::F32),
        Registered::run(DeviceKind::Rocm, Check::MockMarked, Precision::F32),
        Registered::run(DeviceKind::Rocm, Check::RequireHonoured, Precision::F32),
    ],
};

/// A harness that keeps every model it loads. It is a suite of its own, because memory can only be measured alone.
static KEEPING: Harness = Harness {
    spec: &bert::SPEC,
    init_cpu: keep,
    init_cuda: bert::init_cuda,
    init_rocm: bert::init_rocm,
    checks: &[Registered::run(DeviceKind::Cpu, Check::MemoryReleased, Precision::F32)],
};

fn keep(checkpoint: &Checkpoint, request: &DeviceRequest, label: &str) -> Endpoint {
    static KEPT: Mutex<Vec<Endpoint>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap().push(bert::init_cpu(checkpoint, request, label));
    bert::init_cpu(checkpoint, request, label)
}

const CPU: &str = "encoder_only::bert::cpu::finite_f32";
const ROCM: &str = "encoder_only::bert::rocm::finite_f32";
const SKIPPED: &str = "encoder_only::bert::cpu::determinism";

/// Every test of this module.
pub(crate) const TESTS: &[Test] = &[
    ("suite::absent_devices_are_ignored_with_the_reason", absent_devices_are_ignored_with_the_reason),
    ("suite::a_requirement_makes_absence_red", a_requirement_makes_absence_red),
    ("suite::nonsense_is_refused_at_start", nonsense_is_refused_at_start),
    ("suite::nextest_sees_flags", nextest_sees_flags),
    ("suite::nextest_sees_no_pass_without_a_device", nextest_sees_no_pass_without_a_device),
    ("suite::a_broken_checkpoint_is_red", a_broken_checkpoint_is_red),
    ("suite::a_model_that_stays_in_memory_is_red", a_model_that_stays_in_memory_is_red),
];

/// Runs the suite without a GPU that could be seen.
fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(AS_SUITE, "sound").env("CARGO_MANIFEST_DIR", fixtures());
    for name in
        ["NEXTEST", "TESTGEN_DEVICE", "TESTGEN_REQUIRE", "TESTGEN_REPORT", "TESTGEN_VERBOSE", "TESTGEN_CHECKPOINTS"]
    {
        command.env_remove(name);
    }
    for name in ["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env(name, "-1");
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn records(path: &Path) -> Vec<Record> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn absent_devices_are_ignored_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let output = run(&[], &[("TESTGEN_REPORT", report.to_str().unwrap())]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("5 passed; 0 failed; 2 ignored"), "{told}");
    let line = told.lines().find(|line| line.contains(ROCM)).unwrap();
    assert!(line.contains("ignored (no usable rocm device: "), "{line}");
    let records = records(&report);
    assert_eq!(records.len(), 7);
    let of = |name: &str| records.iter().find(|record| record.test_name() == name).unwrap();
    assert_eq!(of(ROCM).status, RecordStatus::Ignored);
    assert_eq!(of(ROCM).device_name, None);
    assert_eq!(of(CPU).status, RecordStatus::Pass);
    assert!(of(CPU).device_name.is_some() && of(CPU).memory.is_some() && of(CPU).milliseconds > 0.0);
    assert_eq!(of(SKIPPED).reason.as_deref(), Some("the spec skips it: to see a skipped one"));
    let mock = records.iter().find(|record| record.check == Check::MockMarked).unwrap();
    assert!(mock.mock && mock.fallback);
}

fn a_requirement_makes_absence_red() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let output = run(&[], &[("TESTGEN_REQUIRE", "rocm,cpu"), ("TESTGEN_REPORT", report.to_str().unwrap())]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(101), "{told}");
    assert!(told.contains("TESTGEN_REQUIRE=rocm, but no usable rocm device"), "{told}");
    let red: Vec<String> = records(&report)
        .into_iter()
        .filter(|record| record.status == RecordStatus::Fail)
        .map(|record| record.test_name())
        .collect();
    assert_eq!(red, [ROCM]);
    assert_eq!(run(&[], &[("TESTGEN_REQUIRE", "cpu")]).status.code(), Some(0));
}

fn nonsense_is_refused_at_start() {
    let refused = |name: &str, value: &str, part: &str| {
        let output = run(&[], &[(name, value)]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(part), "{}", text(&output));
        assert!(output.stdout.is_empty());
    };
    refused("TESTGEN_REQUIRE", "gpu", "`gpu`");
    refused("TESTGEN_REQUIRE", "rocm:0", "count");
    refused("TESTGEN_REQUIRE", "cuda", "no harness of this suite has checks there");
    refused("TESTGEN_DEVICE", "rocm", "`rocm` has no ordinal");
    refused("TESTGEN_REPORT", "/nonexistent/report.jsonl", "/nonexistent/report.jsonl");
}

fn nextest_sees_flags() {
    let list = |arguments: &[&str]| {
        let output = run(arguments, &[("NEXTEST", "1")]);
        let told = String::from_utf8(output.stdout).unwrap();
        told.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(list(&["--list", "--format", "terse"]).len(), 7);
    assert_eq!(list(&["--list", "--format", "terse", "--ignored"]), [SKIPPED, ROCM]);
}

fn nextest_sees_no_pass_without_a_device() {
    for name in [ROCM, SKIPPED] {
        let output = run(&["--exact", name, "--include-ignored"], &[("NEXTEST", "1")]);
        assert_eq!(output.status.code(), Some(101), "{}", text(&output));
        assert!(text(&output).contains("would take it for a pass"), "{}", text(&output));
    }
    let output = run(&["--exact", CPU], &[("NEXTEST", "1")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

fn a_broken_checkpoint_is_red() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&["cpu"], &[("CARGO_MANIFEST_DIR", directory.path().to_str().unwrap())]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(101), "{told}");
    assert!(told.contains("golden.safetensors` does not exist"), "{told}");
}

fn a_model_that_stays_in_memory_is_red() {
    let output = run(&[], &[(AS_SUITE, "keeping")]);
    assert_eq!(output.status.code(), Some(101), "{}", text(&output));
    assert!(text(&output).contains("bytes were not released"), "{}", text(&output));
}
