//! Replays on emulated devices with faults of which the smallest shape is known.

use super::*;
use crate::machine::host_processor;
use testgen_operators::{
    calls::{CallError, Computed, Element, Layout},
    cases::cases,
};
use testgen_types::{Check, Precision};

/// A change of a correct result.
type Change = fn(&Call, &mut HostTensor);

/// A device that computes in f64, with a fault.
struct Emulated(Change);

impl Execute for Emulated {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        let mut tensor = reference(call, Arithmetic::for_precision(Precision::F32)).tensor();
        (self.0)(call, &mut tensor);
        Ok(Computed {
            tensor,
            device: DeviceKind::Cpu,
        })
    }
}

/// A call that failed with the fault, as the check of a device would write it.
fn failed(operator: Operator, sizes: &[usize], fault: Change) -> FailedCall {
    let call = cases(operator, sizes, Element::F32).remove(0).call;
    let reference = reference(&call, Arithmetic::for_precision(Precision::F32));
    let actual = run(&Emulated(fault), &call);
    FailedCall {
        version: FailedCall::VERSION,
        subject: "emulated".to_owned(),
        check: Check::Forward,
        case: format!("`{operator}`"),
        precision: Precision::F32,
        tf32: false,
        device: DeviceKind::Cpu,
        device_name: None,
        simulated: false,
        engine: None,
        failure: failure(&reference, &actual).unwrap_or_default(),
        again: Again {
            plain: repetition(&reference, &actual, &actual),
            blocking: None,
        },
        kernels: Vec::new(),
        call,
        expected: expected(&reference),
        actual,
    }
}

/// The file after it was written and read, on a device with a fault.
fn replayed(failed: &FailedCall, fault: Change, reduce: bool) -> Replayed {
    let failed =
        FailedCall::from_json(&failed.to_json()).unwrap_or_else(|problem| panic!("{problem}"));
    let arithmetic = arithmetic(failed.check, failed.precision, failed.tf32);
    let reference = reference_of(&failed, arithmetic).unwrap_or_else(|problem| panic!("{problem}"));
    DeviceReplay {
        failed: &failed,
        arithmetic,
        executor: &Emulated(fault),
        device: &host_processor(),
    }
    .compute(&reference, reduce)
}

fn shapes(call: &Call) -> Vec<Vec<usize>> {
    call.inputs
        .iter()
        .map(|input| input.tensor.shape.clone())
        .collect()
}

const NONE: Change = |_, _| {};

/// One bit above the bound.
const LAST_OFF: Change = |_, tensor| {
    if let Some(last) = tensor.values.last_mut() {
        *last = f64::from((*last * 1.01 + 0.01) as f32);
    }
};

const FIRST_NAN: Change = |_, tensor| {
    tensor
        .values
        .iter_mut()
        .take(1)
        .for_each(|value| *value = f64::NAN)
};

/// The rows of a matrix after the last whole tile of 16 are not written.
const TAIL_UNWRITTEN: Change = |_, tensor| {
    let [rows, columns] = tensor.shape[..] else {
        return;
    };
    let start = rows / 16 * 16 * columns;
    if start > 0 {
        tensor.values[start..]
            .iter_mut()
            .for_each(|value| *value = 0.0);
    }
};

/// Sums of more than 40 terms lack the last one.
const LONG_SUM_LOST: Change = |call, tensor| {
    let inner = call.inputs[0].tensor.shape[1];
    if inner > 40 {
        tensor.values.iter_mut().for_each(|value| *value += 0.5);
    }
};

#[test]
fn three_faults_are_reproduced_bit_by_bit_and_their_absence_is_recognised() {
    for (operator, sizes, fault) in [
        (Operator::Softmax, &[3, 5][..], LAST_OFF),
        (Operator::Add, &[3, 5][..], FIRST_NAN),
        (Operator::Matmul, &[33, 65, 17][..], TAIL_UNWRITTEN),
    ] {
        let failed = failed(operator, sizes, fault);
        let again = replayed(&failed, fault, false);
        assert_eq!(
            (again.repetition, again.differing),
            (testgen_operators::calls::Repetition::Same, Some(0)),
            "{operator}"
        );
        assert!(again.failure.is_some() && again.reduced.is_none());
        let fixed = replayed(&failed, NONE, true);
        assert_eq!(
            fixed.repetition,
            testgen_operators::calls::Repetition::Correct,
            "{operator}"
        );
        assert_eq!((fixed.failure, fixed.reduced), (None, None));
        assert!(fixed.differing.is_some_and(|count| count > 0));
    }
    let failed = failed(Operator::Softmax, &[3, 5], LAST_OFF);
    let other = replayed(&failed, FIRST_NAN, false);
    assert_eq!(
        (other.repetition, other.differing),
        (testgen_operators::calls::Repetition::OtherFailure, Some(2))
    );
    let worst = other
        .worst
        .unwrap_or_else(|| panic!("there is a worst element"));
    assert_eq!((worst.index, worst.got.as_str()), (vec![0, 0], "NaN"));
    assert!(worst.recorded.is_some_and(
        |recorded| recorded == worst.expected[..recorded.len()] || recorded.starts_with("0.")
    ));
}

#[test]
fn reduced_calls_have_the_smallest_shape_that_fails() {
    let tail = replayed(
        &failed(Operator::Matmul, &[45, 65, 17], TAIL_UNWRITTEN),
        TAIL_UNWRITTEN,
        true,
    );
    let tail = tail.reduced.unwrap_or_else(|| panic!("it fails"));
    assert_eq!(shapes(&tail.failed.call), [[17, 1], [1, 1]]);
    assert!(!tail.incomplete && tail.runs > 10);
    let sum = replayed(
        &failed(Operator::Matmul, &[45, 65, 17], LONG_SUM_LOST),
        LONG_SUM_LOST,
        true,
    );
    let sum = sum.reduced.unwrap_or_else(|| panic!("it fails"));
    assert_eq!(shapes(&sum.failed.call), [[1, 41], [41, 1]]);
    // The file of the smaller call is one that fails again.
    let again = replayed(&sum.failed, LONG_SUM_LOST, false);
    assert_eq!(again.repetition, testgen_operators::calls::Repetition::Same);
    assert_eq!(sum.failed.case, "`matmul` of [1, 41] [41, 1], reduced");
}

#[test]
fn a_smaller_call_keeps_its_layout() {
    let mut transposed = failed(Operator::Matmul, &[20, 6, 7], TAIL_UNWRITTEN);
    transposed
        .call
        .inputs
        .iter_mut()
        .for_each(|input| input.layout = Layout::Reversed);
    let reduced = replayed(&transposed, TAIL_UNWRITTEN, true)
        .reduced
        .unwrap_or_else(|| panic!("it fails"));
    assert!(
        reduced
            .failed
            .call
            .inputs
            .iter()
            .all(|input| input.layout == Layout::Reversed)
    );
}

#[test]
fn a_file_that_contradicts_its_operator_is_refused() {
    let good = failed(Operator::Matmul, &[3, 7, 5], LAST_OFF);
    let refused = |change: &dyn Fn(&mut FailedCall)| {
        let mut failed = good.clone();
        change(&mut failed);
        let arithmetic = arithmetic(failed.check, failed.precision, failed.tf32);
        reference_of(&failed, arithmetic).expect_err("is refused")
    };
    let missing = refused(&|failed| drop(failed.call.inputs.pop()));
    assert_eq!(
        missing,
        "the call is not one of `matmul`: input 1 is missing"
    );
    let inner =
        refused(&|failed| failed.call.inputs[1].tensor = failed.call.inputs[0].tensor.clone());
    assert!(inner.contains("has length 3, expected 7"), "{inner}");
    let expected = refused(&|failed| failed.expected.values.clear());
    assert!(
        expected.contains("its result has 15 elements, the file expects 0"),
        "{expected}"
    );
    let element = refused(&|failed| failed.expected.element = Element::F16);
    assert!(
        element.contains("its result is f32 [3, 5], the file expects f16 [3, 5]"),
        "{element}"
    );
}

#[test]
fn a_gpu_computes_with_the_native_engine_of_the_file() {
    let with = |engine: Option<&str>, kind| {
        let failed = FailedCall {
            engine: engine.map(str::to_owned),
            ..failed(Operator::AllReduce, &[3, 5], NONE)
        };
        native_engine(&failed, kind).to_string()
    };
    assert_eq!(with(Some("native/split"), DeviceKind::Rocm), "native/split");
    assert_eq!(with(Some("native/split"), DeviceKind::Cpu), "native");
    assert_eq!(with(Some("torch/eager"), DeviceKind::Rocm), "native");
    assert_eq!(with(None, DeviceKind::Rocm), "native");
}
