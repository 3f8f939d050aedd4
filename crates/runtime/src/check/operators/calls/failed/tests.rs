//! Files of failed calls, and what a message says about further runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use std::cell::Cell;
use testgen_operators::{
    calls::{Element, HostTensor},
    cases::{Arithmetic, cases},
};
use testgen_types::{Check, DeviceKind, Operator, Precision};

/// Computes correctly, except that the last element is off in the calls that `is_off` selects by
/// their number, from 1.
struct OffInSome<F> {
    calls: Cell<usize>,
    is_off: F,
}

impl<F: Fn(usize) -> bool> Execute for OffInSome<F> {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        self.calls.set(self.calls.get() + 1);
        let mut tensor = reference(call, Arithmetic::for_precision(Precision::F32)).tensor();
        if (self.is_off)(self.calls.get()) {
            *tensor.values.last_mut().unwrap() += 1.0;
        }
        Ok(Computed {
            tensor,
            device: DeviceKind::Cpu,
        })
    }
}

fn device(is_off: impl Fn(usize) -> bool) -> impl Execute {
    OffInSome {
        calls: Cell::new(0),
        is_off,
    }
}

fn failed_calls(folder: Option<&Path>, index: Option<u32>) -> FailedCalls {
    let registration = Registration {
        device: DeviceKind::Rocm,
        check: Check::Forward,
        precision: Precision::F32,
    };
    let device_name = Some("emulated".to_owned());
    let facts = FailedCallFacts {
        subject: "matrix".to_owned(),
        registration,
        tf32: false,
        device_name,
        simulated: true,
        engine: None,
    };
    FailedCalls::in_folder(folder.map(Path::to_owned), facts, index)
}

fn softmax(rows: usize) -> Call {
    cases(Operator::Softmax, &[rows, 3], Element::F32)
        .remove(0)
        .call
}

/// The message for a call that failed on `executor`.
fn kept(failed: &mut FailedCalls, call: &Call, executor: &dyn Execute) -> String {
    let result = executor.execute(call);
    let failing = Failing {
        case: "`softmax`".to_owned(),
        call,
        result: result.as_ref(),
        failure: "1 of 6",
    };
    failed.keep(&failing, executor)
}

#[test]
fn the_message_says_whether_another_run_differs() {
    let message = |device: &dyn Execute| kept(&mut failed_calls(None, None), &softmax(2), device);
    assert_eq!(
        message(&device(|_| true)),
        "; computed again: the same bits"
    );
    assert_eq!(
        message(&device(|number| number == 1)),
        "; computed again: a correct result"
    );
    let again = |plain, blocking| description(Again { plain, blocking }, false);
    let same = Repetition::Same;
    assert_eq!(
        again(same, Some(same)),
        "computed again: the same bits, also with blocking launches"
    );
    assert_eq!(
        again(Repetition::OtherFailure, Some(Repetition::Correct)),
        "computed again: another wrong result; with blocking launches: a correct result"
    );
}

#[test]
fn a_file_has_the_call_its_reference_and_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let failures = folder.path().join("failures");
    let call = softmax(2);
    let message = kept(
        &mut failed_calls(Some(&failures), Some(1)),
        &call,
        &device(|_| true),
    );
    let name = "failures/matrix-forward-rocm-1-f32-1.json";
    assert!(
        message.ends_with(&format!(
            "; `testgen replay` computes `{name}` beside the report"
        )),
        "{message}"
    );
    let failed = FailedCall::read(&folder.path().join(name)).unwrap();
    assert_eq!(
        (failed.call, failed.failure.as_str()),
        (call.clone(), "1 of 6")
    );
    assert_eq!(
        (failed.expected.shape, failed.expected.bounds.len()),
        (vec![2, 3], 6)
    );
    let Actual::Computed(actual) = failed.actual else {
        panic!("it was computed")
    };
    let right = reference(&call, Arithmetic::for_precision(Precision::F32)).tensor();
    assert_eq!(actual.differing(&right).collect::<Vec<_>>(), [5]);
    let files: Vec<_> = fs::read_dir(&failures).unwrap().collect();
    assert_eq!(files.len(), 1, "no temporary file is left: {files:?}");
}

#[test]
fn files_are_limited_in_number_and_those_of_an_earlier_run_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let count = || fs::read_dir(folder.path()).unwrap().count();
    let device = device(|_| true);
    let mut failed = failed_calls(Some(folder.path()), None);
    let messages: Vec<String> = (0..LIMIT + 2)
        .map(|_| kept(&mut failed, &softmax(2), &device))
        .collect();
    assert_eq!(
        messages.iter().filter(|message| message.is_empty()).count(),
        2
    );
    assert_eq!(count(), LIMIT);
    fs::write(folder.path().join("other.json"), "kept").unwrap();
    kept(
        &mut failed_calls(Some(folder.path()), None),
        &softmax(2),
        &device,
    );
    assert_eq!(count(), 2);
}

#[test]
fn a_call_that_is_too_large_has_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let large = Call {
        inputs: vec![testgen_operators::calls::Input {
            tensor: HostTensor::new([1 << 19, 1], Element::F32, vec![1.0; 1 << 19]),
            layout: Default::default(),
        }],
        ..softmax(2)
    };
    let message = kept(
        &mut failed_calls(Some(folder.path()), None),
        &large,
        &device(|_| true),
    );
    assert!(
        message.contains("no file for `testgen replay`: the call has 1572864 elements"),
        "{message}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_named_in_the_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let message = kept(
        &mut failed_calls(Some(&file), None),
        &softmax(2),
        &device(|_| true),
    );
    assert!(
        message.contains("file/matrix-forward-rocm-f32-1.json` cannot be written"),
        "{message}"
    );
}

#[test]
fn a_call_that_was_not_computed_is_kept_with_its_error() {
    struct Refusing;
    impl Execute for Refusing {
        fn execute(&self, call: &Call) -> Result<Computed, CallError> {
            Err(CallError::Device {
                operator: call.operator,
                message: "out of order".to_owned(),
            })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let message = kept(
        &mut failed_calls(Some(folder.path()), None),
        &softmax(2),
        &Refusing,
    );
    assert!(
        message.starts_with("; computed again: the same error"),
        "{message}"
    );
    let failed = FailedCall::read(&folder.path().join("matrix-forward-rocm-f32-1.json")).unwrap();
    assert!(matches!(failed.actual, Actual::Error(error) if error.contains("out of order")));
}
