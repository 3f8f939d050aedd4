//! The test binary of a suite, run as a process: exit codes, reasons, flags and report entries. It
//! is this same binary.

use crate::{
    Test, engines,
    fixture::fixtures,
    harnesses::bert::{self, request},
};
use std::{
    path::Path,
    process::{Command, Output},
    sync::{LazyLock, Mutex},
};
use testgen_runtime::{Endpoint, Harness, LoadTarget, Skip, Spec};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};

/// With this variable the binary behaves like a suite.
pub(crate) const AS_SUITE: &str = "TESTGEN_TEST_AS_SUITE";

/// The harnesses of the suite `which`.
pub(crate) fn harnesses(which: &str) -> Vec<&'static Harness> {
    match which {
        "sound" => vec![&HARNESS],
        "keeping" => vec![&KEEPING],
        "engines" => vec![&engines::HARNESS],
        "engines_with_experts" => vec![&engines::HARNESS_WITH_EXPERTS],
        "engines_in_f16" => vec![&engines::HARNESS_IN_F16],
        "operators" => vec![&engines::operators::HARNESS],
        other => panic!("no suite `{other}`"),
    }
}

/// No checks on CUDA, so that a requirement for it is an error.
static SPEC: Spec = Spec {
    devices: &[DeviceKind::Cpu, DeviceKind::Rocm],
    precisions: &[Precision::F32],
    ..bert::SPEC_VALUE
};

const REASON: &str = "to see a skipped one";

static HARNESS: LazyLock<Harness> = LazyLock::new(|| Harness {
    spec: &SPEC,
    init_cpu: bert::init_cpu,
    init_cuda: bert::init_cuda,
    init_rocm: bert::init_rocm,
    request,
    skipped: all_except(&[
        Check::Finite,
        Check::MemoryReleased,
        Check::FallbackMarked,
        Check::MockMarked,
        Check::RequireHonoured,
    ]),
});

/// A harness that keeps every model it loads. It is a suite of its own, because memory is only
/// measured alone.
static KEEPING: LazyLock<Harness> = LazyLock::new(|| Harness {
    init_cpu: keep,
    skipped: all_except(&[Check::MemoryReleased]),
    ..*HARNESS
});

/// Skips every check except `run`, so that the suite is quick.
pub(crate) fn all_except(run: &[Check]) -> &'static [Skip] {
    let skipped = Check::ALL.iter().filter(|check| !run.contains(check));
    skipped
        .map(|check| Skip::new(*check, REASON))
        .collect::<Vec<_>>()
        .leak()
}

fn keep(target: &LoadTarget) -> Endpoint {
    static KEPT: Mutex<Vec<Endpoint>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap().push(bert::init_cpu(target));
    bert::init_cpu(target)
}

const CPU: &str = "encoder_only::bert::cpu::finite_f32";
const ROCM: &str = "encoder_only::bert::rocm::finite_f32";
const SKIPPED: &str = "encoder_only::bert::cpu::determinism";

/// The checks that run on a machine without a GPU.
const RUN: [&str; 6] = [
    CPU,
    "encoder_only::bert::cpu::memory_released",
    "encoder_only::bert::cpu::mock_marked",
    "encoder_only::bert::rocm::fallback_marked",
    "encoder_only::bert::rocm::mock_marked",
    "encoder_only::bert::rocm::require_honoured",
];

/// Every test of this module.
pub(crate) const TESTS: &[Test] = &[
    (
        "suite::absent_devices_are_ignored_with_the_reason",
        absent_devices_are_ignored_with_the_reason,
    ),
    (
        "suite::a_requirement_makes_absence_red",
        a_requirement_makes_absence_red,
    ),
    (
        "suite::nonsense_is_refused_at_start",
        nonsense_is_refused_at_start,
    ),
    ("suite::nextest_sees_flags", nextest_sees_flags),
    (
        "suite::nextest_sees_no_pass_without_a_device",
        nextest_sees_no_pass_without_a_device,
    ),
    (
        "suite::a_broken_checkpoint_is_red",
        a_broken_checkpoint_is_red,
    ),
    (
        "suite::a_model_that_stays_in_memory_is_red",
        a_model_that_stays_in_memory_is_red,
    ),
];

/// Runs the suite with all GPUs hidden.
fn run(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(arguments)
        .env(AS_SUITE, "sound")
        .env("CARGO_MANIFEST_DIR", fixtures());
    for name in [
        "NEXTEST",
        "TESTGEN_DEVICE",
        "TESTGEN_REQUIRE",
        "TESTGEN_REPORT",
        "TESTGEN_VERBOSE",
        "TESTGEN_CHECKPOINTS",
    ] {
        command.env_remove(name);
    }
    for name in [
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES",
    ] {
        command.env(name, "-1");
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

fn output_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn records(path: &Path) -> Vec<ReportEntry> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn absent_devices_are_ignored_with_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let output = run(&[], &[("TESTGEN_REPORT", report.to_str().unwrap())]);
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("6 passed; 0 failed; "), "{text}");
    let line = text.lines().find(|line| line.contains(ROCM)).unwrap();
    assert!(line.contains("ignored (no usable rocm device: "), "{line}");
    let records = records(&report);
    assert_eq!(records.len(), HARNESS.required().len());
    let entry = |name: &str| {
        records
            .iter()
            .find(|record| record.test_name() == name)
            .unwrap()
    };
    assert_eq!(entry(ROCM).status, EntryStatus::Ignored);
    assert_eq!(entry(ROCM).device_name, None);
    assert_eq!(entry(CPU).status, EntryStatus::Pass);
    assert!(
        entry(CPU).device_name.is_some()
            && entry(CPU).memory.is_some()
            && entry(CPU).milliseconds > 0.0
    );
    assert_eq!(
        entry(SKIPPED).reason.as_deref(),
        Some(format!("the spec skips it: {REASON}").as_str())
    );
    let mock = entry("encoder_only::bert::rocm::mock_marked");
    assert!(mock.mock && mock.fallback);
}

fn a_requirement_makes_absence_red() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let output = run(
        &[],
        &[
            ("TESTGEN_REQUIRE", "rocm,cpu"),
            ("TESTGEN_REPORT", report.to_str().unwrap()),
        ],
    );
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(
        text.contains("TESTGEN_REQUIRE=rocm, but no usable rocm device"),
        "{text}"
    );
    let mut red: Vec<String> = records(&report)
        .into_iter()
        .filter(|record| record.status == EntryStatus::Fail)
        .map(|record| record.test_name())
        .collect();
    red.sort();
    assert_eq!(red, [ROCM, "encoder_only::bert::rocm::memory_released"]);
    assert_eq!(
        run(&[], &[("TESTGEN_REQUIRE", "cpu")]).status.code(),
        Some(0)
    );
}

fn nonsense_is_refused_at_start() {
    let refused = |name: &str, value: &str, part: &str| {
        let output = run(&[], &[(name, value)]);
        assert_eq!(output.status.code(), Some(2), "{}", output_text(&output));
        assert!(
            output_text(&output).contains(part),
            "{}",
            output_text(&output)
        );
        assert!(output.stdout.is_empty());
    };
    refused("TESTGEN_REQUIRE", "gpu", "`gpu`");
    refused("TESTGEN_REQUIRE", "rocm:0", "count");
    refused(
        "TESTGEN_REQUIRE",
        "cuda",
        "no harness of this suite has checks there",
    );
    refused("TESTGEN_DEVICE", "rocm", "`rocm` has no ordinal");
    refused(
        "TESTGEN_REPORT",
        "/nonexistent/report.jsonl",
        "/nonexistent/report.jsonl",
    );
}

fn nextest_sees_flags() {
    let list = |arguments: &[&str]| {
        let output = run(arguments, &[("NEXTEST", "1")]);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (all, ignored) = (
        list(&["--list", "--format", "terse"]),
        list(&["--list", "--format", "terse", "--ignored"]),
    );
    assert_eq!(all.len(), HARNESS.required().len());
    let run: Vec<&String> = all.iter().filter(|name| !ignored.contains(name)).collect();
    assert_eq!(run, RUN.iter().collect::<Vec<_>>());
    assert!(
        [SKIPPED, ROCM]
            .iter()
            .all(|name| ignored.iter().any(|ignored| ignored == name)),
        "{ignored:?}"
    );
}

fn nextest_sees_no_pass_without_a_device() {
    for name in [ROCM, SKIPPED] {
        let output = run(&["--exact", name, "--include-ignored"], &[("NEXTEST", "1")]);
        assert_eq!(output.status.code(), Some(101), "{}", output_text(&output));
        assert!(
            output_text(&output).contains("would count as a pass"),
            "{}",
            output_text(&output)
        );
    }
    let output = run(&["--exact", CPU], &[("NEXTEST", "1")]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
}

fn a_broken_checkpoint_is_red() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(
        &["cpu"],
        &[("CARGO_MANIFEST_DIR", directory.path().to_str().unwrap())],
    );
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(
        text.contains("golden.safetensors` does not exist"),
        "{text}"
    );
}

fn a_model_that_stays_in_memory_is_red() {
    let output = run(&[], &[(AS_SUITE, "keeping")]);
    assert_eq!(output.status.code(), Some(101), "{}", output_text(&output));
    assert!(
        output_text(&output).contains("bytes were not released"),
        "{}",
        output_text(&output)
    );
}
