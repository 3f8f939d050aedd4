//! Convolutions of the simulated MIOpen, with and without faults.

use crate::calls::{assert_passes, compare_call};
use crate::faults::{count, report, rows};
use crate::worker::opened;
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use testgen_libraries::{LibraryExecutor, LibraryName};
use testgen_operators::{
    calls::{Call, CallError, Element, Execute, HostTensor, Layout},
    cases::{cases, odd_sizes},
};
use testgen_types::{Operator, OperatorGroup, Precision};

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

/// In the subprocess: convolutions of every operator, type and layout, and others.
pub(crate) fn compare() {
    for precision in PRECISIONS {
        let executor = LibraryExecutor::new(Rc::new(opened("miopen")), precision);
        let operators = LibraryName::Miopen.operators().iter();
        for operator in operators.filter(|one| one.group() == OperatorGroup::Convolution) {
            let sizes = odd_sizes(*operator);
            for case in cases(*operator, &sizes, Element::for_precision(precision)) {
                for layout in Layout::ALL {
                    let mut call = case.call.clone();
                    call.inputs
                        .iter_mut()
                        .for_each(|input| input.layout = layout.clone());
                    compare_call(&executor, &call, precision);
                }
            }
        }
    }
    others();
}

fn others() {
    let call = |x: &[usize], weight: &[usize]| {
        let tensor = |shape: &[usize]| {
            HostTensor::new(shape, Element::F32, vec![1.0; shape.iter().product()])
        };
        let mut call = Call::new(
            Operator::Conv1d,
            vec![tensor(x), tensor(weight)],
            Default::default(),
        );
        call.attributes.groups = 1;
        call
    };
    let library = Rc::new(opened("miopen"));
    let executor = LibraryExecutor::new(Rc::clone(&library), Precision::F32);
    let empty = executor.execute(&call(&[0, 2, 3], &[4, 2, 2]));
    assert_eq!(empty.expect("is computed").tensor.shape, [0, 4, 2]);
    let wrong = executor.execute(&call(&[1, 2, 3], &[4, 3, 2]));
    assert!(matches!(&wrong, Err(CallError::Inputs { .. })), "{wrong:?}");
    let product = executor.execute(&Call {
        operator: Operator::Matmul,
        ..call(&[1, 2, 3], &[4, 2, 2])
    });
    let is_refused = matches!(&product, Err(CallError::NotComputed { .. }));
    assert!(is_refused, "{product:?}");
    let tf32 = LibraryExecutor::new(library, Precision::Tf32);
    let tf32 = tf32.execute(&call(&[1, 2, 3], &[4, 2, 2]));
    assert!(
        matches!(&tf32, Err(CallError::Unsupported { .. })),
        "{tf32:?}"
    );
}

#[test]
fn calls_are_computed_by_miopen() {
    assert_passes("miopen", "");
}

#[test]
fn a_call_fails_if_miopen_does() {
    assert!(assert_passes("miopen", "convolution=refuse").contains("miopenStatusInternalError"));
    assert!(assert_passes("miopen", "convolution=beyond").contains("has changed other memory"));
}

/// A fault, and the rows that must fail.
struct FailedRows {
    fault: &'static str,
    /// The types of all rows that fail.
    arithmetics: &'static [&'static str],
    /// A part of every convolution that fails.
    part: &'static str,
    /// A text that no convolution that fails has; ignored if empty.
    absent: &'static str,
    /// A part of one of the messages.
    message: &'static str,
}

const ALL: &[&str] = &["bf16", "f16", "f32"];

const fn everywhere(fault: &'static str, message: &'static str) -> FailedRows {
    FailedRows {
        fault,
        arithmetics: ALL,
        part: "",
        absent: "",
        message,
    }
}

const FAILED: &[FailedRows] = &[
    FailedRows {
        part: "subnormal inputs",
        ..everywhere("flush", "elements are wrong")
    },
    FailedRows {
        absent: "padding [0, 0]",
        ..everywhere("padding", "elements are wrong")
    },
    FailedRows {
        absent: "dilation [1, 1",
        ..everywhere("dilation", "elements are wrong")
    },
    FailedRows {
        absent: "groups 1,",
        ..everywhere("group", "elements are wrong")
    },
    everywhere("flip", "elements are wrong"),
    everywhere("limit", "are NaN or were not written"),
    everywhere("beyond", "memory 0 bytes after the result was overwritten"),
    everywhere("silent", "are NaN or were not written"),
    everywhere("refuse", "returned 5, miopenStatusInternalError"),
    FailedRows {
        arithmetics: &["bf16", "f16"],
        ..everywhere("round", "elements are wrong")
    },
    everywhere(
        "workspace",
        "memory 0 bytes after the workspace was overwritten",
    ),
    everywhere("nan", "are NaN or were not written"),
    everywhere("solution", "are NaN or were not written"),
];

/// The faults of one solution, the last one.
const OF_LAST: [&str; 3] = ["workspace", "nan", "solution"];

#[test]
fn every_fault_of_miopen_is_detected() {
    for FailedRows {
        fault,
        arithmetics,
        part,
        absent,
        message,
    } in FAILED
    {
        let report = report("miopen", &format!("convolution={fault}"));
        let rows = rows(&report);
        let failed = || rows.iter().filter(|row| count(row, "failed") > 0);
        let detected: BTreeSet<&str> = failed()
            .filter_map(|row| row["arithmetic"].as_str())
            .collect();
        assert_eq!(detected, arithmetics.iter().copied().collect(), "{fault}");
        let text = Value::from_iter(failed().map(|row| (*row).clone())).to_string();
        assert!(text.contains(message), "{fault}: {text}");
        for failure in failed().flat_map(|row| row["failures"].as_array().expect("are described")) {
            let computation = failure["computation"].as_str().expect("is text");
            assert!(computation.contains(part), "{fault}: {computation}");
            let is_absent = absent.is_empty() || !computation.contains(absent);
            assert!(is_absent, "{fault}: {computation}");
        }
        let operators: BTreeSet<&str> =
            failed().filter_map(|row| row["variant"].as_str()).collect();
        assert_eq!(operators.len(), 4, "{fault}: {operators:?}");
    }
}

#[test]
fn a_fault_of_one_solution_of_miopen_is_in_its_rows_only() {
    for fault in OF_LAST {
        let report = report("miopen", &format!("convolution={fault}"));
        for row in rows(&report) {
            let expected = if row["algorithm"] == "GEMM 91" {
                count(row, "results")
            } else {
                0
            };
            assert_eq!(count(row, "failed"), expected, "{fault}: {row}");
        }
    }
}

#[test]
fn miopen_passes_with_every_solution() {
    let report = report("miopen", "");
    let rows = rows(&report);
    for row in &rows {
        assert_eq!(count(row, "failed"), 0, "{row}");
    }
    for algorithm in ["Winograd 53", "Direct 11", "GEMM 91"] {
        let of_algorithm = rows.iter().filter(|row| row["algorithm"] == algorithm);
        assert_eq!(of_algorithm.count(), 12, "{algorithm}");
    }
    assert_eq!(report["version"], "3.3.0");
    let refused = report["unsupported"].to_string();
    assert!(refused.contains("MIOpen has no TF32"), "{refused}");
    assert!(count(&report, "peak_bytes") > 1 << 14, "{report}");
}
