//! Operators on an engine: those that it names are compared, others are in the summary, and none at
//! all is ignored.

use super::all_entries_of;
use crate::{Test, harnesses::on_host, requests::request_of, suite::all_except};
use std::sync::LazyLock;
use testgen_runtime::{
    Architecture, DeviceUnavailable, Endpoint, Harness, LoadTarget, Operator, OperatorShapes, Spec,
    Subject, Task, task,
};
use testgen_types::{Check, DeviceKind, EntryStatus, Precision, ReportEntry};

static SPEC: Spec = Spec {
    name: "moves",
    subject: Subject::Operators {
        shapes: &[
            OperatorShapes {
                operator: Operator::Copy,
                shapes: &[&[3, 5]],
                stress: &[],
            },
            OperatorShapes {
                operator: Operator::Neg,
                shapes: &[&[3, 5]],
                stress: &[],
            },
        ],
    },
    architecture: Architecture::Operators,
    task: Task::OperatorEvaluation,
    devices: &[DeviceKind::Cpu],
    precisions: &[Precision::F32],
    tolerances: &[],
    vram_mib: None,
    limit_seconds: None,
};

/// The checks that compare results.
const RUN: [Check; 7] = [
    Check::Forward,
    Check::Shapes,
    Check::SpecialValues,
    Check::Integers,
    Check::Relations,
    Check::Determinism,
    Check::Placement,
];

/// A suite of two operators.
pub(crate) static HARNESS: LazyLock<Harness> = LazyLock::new(|| Harness {
    spec: &SPEC,
    init_cpu,
    init_cuda: |target| absent(target, DeviceKind::Cuda),
    init_rocm: |target| absent(target, DeviceKind::Rocm),
    request: |recorded| request_of(Task::OperatorEvaluation, recorded),
    skipped: all_except(&RUN),
});

fn init_cpu(target: &LoadTarget) -> Endpoint {
    on_host(&SPEC, target, DeviceKind::Cpu, task::operator_evaluation)
}

fn absent(target: &LoadTarget, kind: DeviceKind) -> Endpoint {
    let absence = DeviceUnavailable::new(kind, "this harness knows no GPU");
    init_cpu(&target.on(DeviceKind::Cpu)).into_fallback(kind, &absence)
}

/// Every test of this module.
pub(crate) const TESTS: &[Test] = &[
    (
        "engines::operators_of_an_engine_are_compared",
        operators_of_an_engine_are_compared,
    ),
    (
        "engines::wrong_operators_of_an_engine_are_red",
        wrong_operators_of_an_engine_are_red,
    ),
    (
        "engines::an_engine_without_operators_is_ignored",
        an_engine_without_operators_is_ignored,
    ),
];

/// The entries of the checks that compare results.
fn entries(script: &str) -> Vec<ReportEntry> {
    let entries = all_entries_of("operators", "scripted", script).into_iter();
    let entries: Vec<ReportEntry> = entries.filter(|entry| RUN.contains(&entry.check)).collect();
    assert_eq!(entries.len(), RUN.len(), "{script}");
    entries
}

fn operators_of_an_engine_are_compared() {
    for entry in entries("operators") {
        assert_eq!(
            entry.status,
            EntryStatus::Pass,
            "{}: {:?}",
            entry.test_name(),
            entry.reason
        );
        assert!(
            entry.outputs.iter().all(|output| output.name == "copy"),
            "{}",
            entry.test_name()
        );
        if entry.check == Check::Forward {
            assert_eq!(
                entry.reason.as_deref(),
                Some("1 cases of 1 operators; not in the engine: neg")
            );
        }
    }
}

fn wrong_operators_of_an_engine_are_red() {
    // Elements that are off, in the opposite order, on another device, of another type, or not
    // there at all.
    for (script, check) in [
        ("operators_off", Check::Forward),
        ("operators_off", Check::Relations),
        ("operators_reversed", Check::Shapes),
        ("operators_alternate", Check::Determinism),
        ("operators_elsewhere", Check::Placement),
        ("operators_as_integers", Check::Forward),
        ("operators_fail", Check::Integers),
    ] {
        let entries = entries(script);
        let entry = entries.iter().find(|entry| entry.check == check).unwrap();
        assert_eq!(
            entry.status,
            EntryStatus::Fail,
            "{script}: {}: {:?}",
            entry.test_name(),
            entry.reason
        );
    }
}

fn an_engine_without_operators_is_ignored() {
    for entry in entries("none") {
        assert_eq!(entry.status, EntryStatus::Ignored, "{}", entry.test_name());
        assert_eq!(
            entry.reason.as_deref(),
            Some("the engine does not compute copy, neg")
        );
    }
}
