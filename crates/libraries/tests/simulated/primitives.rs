//! Softmax, activations, pools, reductions and norms of the simulated MIOpen, with and without faults.

use crate::calls::{assert_passes, compare_call};
use crate::faults::{count, report, rows};
use crate::worker::opened;
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use testgen_libraries::{LibraryExecutor, LibraryName};
use testgen_operators::{
    calls::{Attributes, Call, CallError, Element, Execute, HostTensor, Layout},
    cases::{cases, odd_sizes, special_cases},
};
use testgen_types::{Operator, OperatorGroup, Precision};

const PRECISIONS: [Precision; 3] = [Precision::F32, Precision::F16, Precision::Bf16];

/// The operators of MIOpen other than convolutions.
fn operators() -> impl Iterator<Item = Operator> {
    let all = LibraryName::Miopen.operators().iter().copied();
    all.filter(|operator| operator.group() != OperatorGroup::Convolution)
}

/// In the subprocess: every operator, type and layout, special numbers, and others.
pub(crate) fn compare() {
    for precision in PRECISIONS {
        let executor = LibraryExecutor::new(Rc::new(opened("miopen")), precision);
        let element = Element::for_precision(precision);
        for operator in operators() {
            let plain = cases(operator, &odd_sizes(operator), element);
            let groups = cases(Operator::GroupNorm, &[8, 4, 3, 5], element);
            let groups = groups.iter().filter(|_| operator == Operator::GroupNorm);
            let special = special_cases(operator, element);
            for case in plain.iter().chain(&special).chain(groups) {
                for layout in Layout::ALL {
                    let mut call = case.call.clone();
                    call.inputs[0].layout = layout.clone();
                    compare_offered(&executor, &call, precision);
                }
            }
        }
    }
    others();
}

/// Whether MIOpen has the operator of bf16.
fn has_bf16(operator: Operator) -> bool {
    let norms = [Operator::LayerNorm, Operator::GroupNorm, Operator::RmsNorm];
    operator.group() == OperatorGroup::Reduction || norms.contains(&operator)
}

/// Compares a call, unless MIOpen does not have it: of bf16 it has reductions and norms by the
/// statistics of the elements only, no windows with gaps, and no norm of few groups.
fn compare_offered(executor: &LibraryExecutor, call: &Call, precision: Precision) {
    let has_gaps = call.attributes.dilation.contains(&2);
    let few_groups = call.operator == Operator::GroupNorm
        && call.inputs[0].tensor.shape[0] * call.attributes.groups < 32;
    if !has_bf16(call.operator) && precision == Precision::Bf16 || has_gaps || few_groups {
        let result = executor.execute(call);
        let is_unsupported = matches!(&result, Err(CallError::Unsupported { .. }));
        assert!(is_unsupported, "{precision} {}: {result:?}", call.shapes());
    } else {
        compare_call(executor, call, precision);
    }
}

fn others() {
    let executor = LibraryExecutor::new(Rc::new(opened("miopen")), Precision::F32);
    let call = |operator| {
        let empty = HostTensor::new([0, 5], Element::F32, Vec::new());
        Call::new(operator, vec![empty], Default::default())
    };
    let empty = executor.execute(&call(Operator::Relu));
    assert_eq!(empty.expect("is computed").tensor.shape, [0, 5]);
    let ones = HostTensor::new([3, 1], Element::F32, vec![1.0; 3]);
    let sum = Call::new(Operator::Sum, vec![ones], Attributes::of_dim(1));
    let sum = executor.execute(&sum).expect("is computed").tensor;
    assert_eq!((sum.shape, sum.values), (vec![3], vec![1.0; 3]));
    // MIOpen has no swish.
    let silu = executor.execute(&call(Operator::Silu));
    assert!(
        matches!(&silu, Err(CallError::NotComputed { .. })),
        "{silu:?}"
    );
}

#[test]
fn an_operator_fails_if_miopen_does() {
    assert!(assert_passes("miopen", "primitive=refuse").contains("miopenStatusInternalError"));
    assert!(assert_passes("miopen", "primitive=beyond").contains("has changed other memory"));
}

/// A fault, and the rows that must fail.
struct FailedOperators {
    fault: &'static str,
    /// The types of all rows that fail.
    arithmetics: &'static [&'static str],
    /// The operators of all rows that fail; every one if empty.
    operators: &'static [&'static str],
    /// A part of one of the messages.
    message: &'static str,
}

const ALL: &[&str] = &["bf16", "f16", "f32"];
/// MIOpen does not have these operators of bf16.
const HALF_AND_SINGLE: &[&str] = &["f16", "f32"];

const fn everywhere(fault: &'static str, message: &'static str) -> FailedOperators {
    FailedOperators {
        fault,
        arithmetics: ALL,
        operators: &[],
        message,
    }
}

const FAILED: &[FailedOperators] = &[
    FailedOperators {
        fault: "shift",
        arithmetics: HALF_AND_SINGLE,
        operators: &["log_softmax", "softmax"],
        message: "are NaN or were not written",
    },
    FailedOperators {
        fault: "sign",
        arithmetics: HALF_AND_SINGLE,
        operators: &["relu", "relu6", "sigmoid", "tanh"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "padding",
        arithmetics: HALF_AND_SINGLE,
        operators: &["avg_pool1d", "avg_pool2d", "avg_pool3d"],
        message: "padding not counted",
    },
    FailedOperators {
        fault: "block",
        arithmetics: ALL,
        operators: &[
            "group_norm",
            "layer_norm",
            "mean",
            "norm1",
            "norm2",
            "rms_norm",
            "sum",
        ],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "magnitude",
        arithmetics: ALL,
        operators: &["amax", "norm1"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "root",
        arithmetics: ALL,
        operators: &["norm2"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "start",
        arithmetics: ALL,
        operators: &["prod"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "samples",
        arithmetics: ALL,
        operators: &["group_norm", "layer_norm", "rms_norm"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "mean",
        arithmetics: ALL,
        operators: &["batch_norm", "group_norm", "layer_norm"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "epsilon",
        arithmetics: ALL,
        operators: &["batch_norm", "group_norm", "layer_norm", "rms_norm"],
        message: "a small variance",
    },
    FailedOperators {
        fault: "channel",
        arithmetics: ALL,
        operators: &["batch_norm", "group_norm", "layer_norm", "rms_norm"],
        message: "elements are wrong",
    },
    FailedOperators {
        fault: "statistics",
        // Statistics of 16 bits are not compared.
        arithmetics: &["f32"],
        operators: &["group_norm", "layer_norm", "rms_norm"],
        message: "mean and reciprocal deviation: ",
    },
    everywhere("limit", "are NaN or were not written"),
    everywhere("beyond", "memory 0 bytes after the result was overwritten"),
    everywhere("silent", "are NaN or were not written"),
    everywhere("refuse", "returned 5, miopenStatusInternalError"),
];

#[test]
fn every_fault_of_an_operator_is_detected() {
    let further = ["amax", "norm1", "norm2"].map(str::to_owned);
    let every: BTreeSet<String> = operators()
        .map(|operator| operator.to_string())
        .chain(further)
        .collect();
    for failed_operators in FAILED {
        let fault = failed_operators.fault;
        let report = report("miopen", &format!("primitive={fault}"));
        let rows = rows(&report);
        let failed: Vec<&Value> = rows
            .into_iter()
            .filter(|row| count(row, "failed") > 0)
            .collect();
        let named = |key: &str| -> BTreeSet<String> {
            let names = failed.iter().filter_map(|row| row[key].as_str());
            names.map(str::to_owned).collect()
        };
        let arithmetics = failed_operators.arithmetics.iter();
        assert_eq!(
            named("arithmetic"),
            arithmetics.map(|name| (*name).to_owned()).collect(),
            "{fault}"
        );
        let expected = failed_operators.operators.iter();
        let expected: BTreeSet<String> = expected.map(|name| (*name).to_owned()).collect();
        let expected = if expected.is_empty() {
            every.clone()
        } else {
            expected
        };
        assert_eq!(named("variant"), expected, "{fault}");
        let text = Value::from_iter(failed.iter().map(|row| (*row).clone())).to_string();
        assert!(text.contains(failed_operators.message), "{fault}: {text}");
    }
}

#[test]
fn miopen_passes_with_every_algorithm_of_its_operators() {
    let report = report("miopen", "");
    let rows = rows(&report);
    for row in &rows {
        assert_eq!(count(row, "failed"), 0, "{row}");
    }
    // In f32, f16 and bf16: three solutions of four convolutions, eight reductions, and three norms
    // with and without a weight.
    let everywhere = 3 * (3 * 4 + 8 + 3 * 2);
    // In f32 and f16: four activations, a maximum and two means of windows in three dimensions, two
    // algorithms of the softmax in two modes, its logarithm in two modes, and a batch norm in two.
    let others = 2 * (4 + 3 + 2 * 3 + 2 * 2 + 2 + 2);
    assert_eq!(rows.len(), everywhere + others);
    let refused = report["unsupported"].to_string();
    for reason in [
        "miopenSoftmaxForward_V2 returned 6, miopenStatusNotImplemented",
        "pools of the library have no dilation",
        "miopenGroupNormForward returned 6, miopenStatusNotImplemented",
        "miopenBatchNormalizationForwardInference returned 6, miopenStatusNotImplemented",
    ] {
        assert!(refused.contains(reason), "{refused}");
    }
}
