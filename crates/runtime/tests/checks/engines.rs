//! A suite on an engine that misbehaves: no check passes, each has a reason, and none hangs.

mod implementations;
mod lacks;
pub(crate) mod operators;

use crate::{
    Test,
    fixture::fixtures,
    harnesses::{
        bert::{self, request},
        olmoe,
    },
    suite::{AS_SUITE, all_except},
};
use std::{
    fs::File,
    path::Path,
    process::{Child, Command, Stdio},
    sync::LazyLock,
    time::{Duration, Instant},
};
use testgen_runtime::{Harness, Spec};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};

static SPEC: Spec = Spec {
    devices: &[DeviceKind::Cpu],
    precisions: &[Precision::F32],
    ..bert::SPEC_VALUE
};

static SPEC_IN_F16: Spec = Spec {
    devices: &[DeviceKind::Cpu],
    precisions: &[Precision::F16],
    ..bert::SPEC_VALUE
};

/// The checks that an engine can pass which only knows the golden.
const RUN: [Check; 5] = [
    Check::LoadKeysExact,
    Check::Placement,
    Check::LayerTraceGolden,
    Check::OutputGolden,
    Check::Finite,
];

/// These, and the check that only engines have.
const NOT_SKIPPED: [Check; 6] = [
    RUN[0],
    RUN[1],
    RUN[2],
    RUN[3],
    RUN[4],
    Check::AttentionPaths,
];

/// A suite of these checks.
pub(crate) static HARNESS: LazyLock<Harness> = LazyLock::new(|| Harness {
    spec: &SPEC,
    init_cpu: bert::init_cpu,
    init_cuda: bert::init_cuda,
    init_rocm: bert::init_rocm,
    request,
    skipped: all_except(&NOT_SKIPPED),
});

/// A suite of the same checks in f16.
pub(crate) static HARNESS_IN_F16: LazyLock<Harness> = LazyLock::new(|| Harness {
    spec: &SPEC_IN_F16,
    ..*HARNESS
});

static SPEC_WITH_EXPERTS: Spec = Spec {
    devices: &[DeviceKind::Cpu],
    precisions: &[Precision::F32],
    ..olmoe::SPEC_VALUE
};

/// A suite of the check of experts.
pub(crate) static HARNESS_WITH_EXPERTS: LazyLock<Harness> = LazyLock::new(|| Harness {
    spec: &SPEC_WITH_EXPERTS,
    init_cpu: olmoe::init_cpu,
    init_cuda: olmoe::init_cuda,
    init_rocm: olmoe::init_rocm,
    request: olmoe::request,
    skipped: all_except(&[Check::ExpertPaths]),
});

/// Every test of this module.
pub(crate) const TESTS: &[Test] = &[
    (
        "engines::a_correct_engine_passes_in_a_column_of_its_own",
        a_correct_engine_passes_in_a_column_of_its_own,
    ),
    (
        "engines::no_check_passes_on_an_engine_that_misbehaves",
        no_check_passes_on_an_engine_that_misbehaves,
    ),
    ("engines::wrong_numbers_are_red", wrong_numbers_are_red),
    (
        "engines::a_call_that_hangs_is_ended",
        a_call_that_hangs_is_ended,
    ),
    (
        "engines::implementations_are_compared_with_each_other",
        implementations::implementations_are_compared_with_each_other,
    ),
    (
        "engines::tokens_of_other_experts_are_counted",
        implementations::tokens_of_other_experts_are_counted,
    ),
    (
        "engines::an_engine_that_cannot_is_ignored_with_the_reason",
        lacks::an_engine_that_cannot_is_ignored_with_the_reason,
    ),
    (
        "engines::a_precision_that_the_engine_lacks_is_ignored",
        lacks::a_precision_that_the_engine_lacks_is_ignored,
    ),
    (
        "engines::an_engine_that_dies_in_a_precision_does_not_lack_it",
        lacks::an_engine_that_dies_in_a_precision_does_not_lack_it,
    ),
    (
        "engines::a_graph_is_checked_as_far_as_it_goes",
        lacks::a_graph_is_checked_as_far_as_it_goes,
    ),
    (
        "engines::an_unknown_engine_is_red",
        an_unknown_engine_is_red,
    ),
];

/// The limit of a call in seconds, for engines that answer or end.
const LONG: &str = "300";
/// The limit for engines that never answer.
const SHORT: &str = "3";
/// A watchdog, not a time that is tested: far shorter than all calls of a suite that hang.
const WATCHDOG: Duration = Duration::from_secs(500);

/// The entries of the checks that every engine has.
fn entries(engines: &str, script: &str) -> Vec<ReportEntry> {
    let entries = all_entries(engines, script).into_iter();
    entries.filter(|entry| RUN.contains(&entry.check)).collect()
}

fn all_entries(engines: &str, script: &str) -> Vec<ReportEntry> {
    all_entries_of("engines", engines, script)
}

fn all_entries_of(suite: &str, engines: &str, script: &str) -> Vec<ReportEntry> {
    let limit = if ["silent", "never_reads"].contains(&script) {
        SHORT
    } else {
        LONG
    };
    all_entries_within(limit, suite, engines, script)
}

fn all_entries_within(limit: &str, suite: &str, engines: &str, script: &str) -> Vec<ReportEntry> {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.jsonl");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/scripted.py");
    let log = directory.path().join("log");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env(AS_SUITE, suite)
        .env("CARGO_MANIFEST_DIR", fixtures())
        .env("TESTGEN_REPORT", &report)
        .env("TESTGEN_ENGINES", engines)
        .env("TESTGEN_ENGINE_SCRIPTED", program)
        .env("TESTGEN_ENGINE_TIMEOUT", limit)
        .env("TESTGEN_SCRIPT", script)
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait(&mut child, script);
    let text = std::fs::read_to_string(&report).unwrap_or_else(|error| {
        panic!(
            "{script}: {error}\n{}",
            std::fs::read_to_string(&log).unwrap_or_default()
        )
    });
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Waits for a suite, which must end.
fn wait(suite: &mut Child, script: &str) {
    let started = Instant::now();
    while suite.try_wait().unwrap().is_none() {
        if started.elapsed() > WATCHDOG {
            suite.kill().unwrap();
            panic!("{script} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The reason of a check.
fn reason(entries: &[ReportEntry], check: Check) -> &str {
    let entry = entries.iter().find(|entry| entry.check == check).unwrap();
    entry.reason.as_deref().unwrap_or_default()
}

fn a_correct_engine_passes_in_a_column_of_its_own() {
    let entries = entries("native,scripted", "none");
    assert_eq!(entries.len(), 2 * RUN.len());
    for entry in &entries {
        assert_eq!(
            entry.status,
            EntryStatus::Pass,
            "{}: {:?}",
            entry.test_name(),
            entry.reason
        );
        let scripted = entry.engine.is_some();
        assert_eq!(
            entry.engine_versions.as_deref(),
            scripted.then_some("scripted 1 (CPU build)")
        );
        assert_eq!(entry.test_name().ends_with("@scripted"), scripted);
    }
    assert_eq!(
        entries
            .iter()
            .filter(|entry| entry.engine.is_some())
            .count(),
        RUN.len()
    );
}

fn no_check_passes_on_an_engine_that_misbehaves() {
    let expected = [
        ("exits", "No module named 'torch'"),
        ("prints", "Loading checkpoint shards"),
        ("silent", "did not answer `hello` within 3 s"),
        ("never_reads", "did not answer `hello` within 3 s"),
        ("closes", "closed its pipe"),
        ("not_json", "header"),
        ("other_id", "answers request"),
        ("old_protocol", "version 0"),
        ("huge_tensors", "over the limit"),
        ("twice", "answers request 1"),
        ("build_lie", "cannot have opened a GPU"),
        ("device_lie", "of another kind"),
        ("wrong_sums", "element 0 is 1, expected 0"),
    ];
    for (script, part) in expected {
        let entries = entries("scripted", script);
        assert_eq!(entries.len(), RUN.len(), "{script}");
        for entry in &entries {
            assert_eq!(
                entry.status,
                EntryStatus::Fail,
                "{script}: {:?}",
                entry.reason
            );
            let reason = entry.reason.as_deref().unwrap_or_default();
            assert!(reason.contains(part), "{script}: no `{part}` in: {reason}");
        }
    }
}

/// The engine must start and load within the limit at which its next call is ended: a busy machine
/// needs a longer one.
fn a_call_that_hangs_is_ended() {
    let limits =
        std::iter::successors(Some(3), |limit| Some(limit * 2)).take_while(|limit| *limit < 100);
    let mut reasons = limits.map(|limit: u32| {
        let entries = all_entries_within(&limit.to_string(), "engines", "scripted", "hangs");
        let entry = entries
            .iter()
            .find(|entry| entry.check == Check::OutputGolden)
            .unwrap();
        assert_eq!(entry.status, EntryStatus::Fail, "{:?}", entry.reason);
        reason(&entries, Check::OutputGolden).to_owned()
    });
    assert!(reasons.any(|reason| reason.contains("did not answer `forward` within")));
}

/// The checks of outputs fail, each for the reason that the script is about.
fn wrong_numbers_are_red() {
    let expected = [
        ("nan", Check::Finite, "NaN"),
        ("zeros", Check::OutputGolden, "last_hidden_state"),
        ("slightly_wrong", Check::OutputGolden, "last_hidden_state"),
        ("slightly_wrong", Check::LayerTraceGolden, "embed"),
        ("transposed", Check::OutputGolden, "shape"),
        ("wrong_shape", Check::OutputGolden, "shape"),
        ("no_outputs", Check::OutputGolden, "last_hidden_state"),
        ("no_outputs", Check::Placement, "no output"),
        (
            "no_placements",
            Check::Placement,
            "was not read from its tensor",
        ),
        ("other_dtype", Check::Placement, "is bf16, not f32"),
        (
            "placed_elsewhere",
            Check::Placement,
            "is on cuda, not on cpu",
        ),
        ("cut_tensors", Check::OutputGolden, "within a message"),
        ("damaged_tensors", Check::OutputGolden, "tensors:"),
        (
            "dies",
            Check::OutputGolden,
            "Segmentation fault (core dumped)",
        ),
        ("dies", Check::Finite, "signal: 11"),
        (
            "fails",
            Check::OutputGolden,
            "out of memory after 3 tensors",
        ),
        ("unused", Check::LoadKeysExact, "never read: `b`"),
    ];
    for (script, check, part) in expected {
        let entries = entries("scripted", script);
        let entry = entries.iter().find(|entry| entry.check == check).unwrap();
        assert_eq!(
            entry.status,
            EntryStatus::Fail,
            "{script}, {check}: {:?}",
            entry.reason
        );
        let reason = reason(&entries, check);
        assert!(
            reason.contains(part),
            "{script}, {check}: no `{part}` in: {reason}"
        );
    }
}

fn an_unknown_engine_is_red() {
    for entry in entries("imaginary", "none") {
        assert_eq!(entry.status, EntryStatus::Fail, "{:?}", entry.reason);
        assert!(
            entry
                .reason
                .unwrap()
                .contains("TESTGEN_ENGINE_IMAGINARY is not set")
        );
    }
}
