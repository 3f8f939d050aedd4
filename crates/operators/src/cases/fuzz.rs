//! Fuzzing of the files of failed calls: an accepted call has a reference of the predicted size,
//! and every smaller one as well.

use crate::{
    calls::{Actual, Again, Call, Element, Expected, FailedCall, Repetition},
    cases::{Arithmetic, Case, cases, odd_sizes, reduce, reference, result_elements},
};
use testgen_fuzz::{Target, assert_message};
use testgen_types::{Check, DeviceKind, Operator, Precision};

#[test]
fn fuzz_failed_calls() {
    let every = |operator: &Operator| cases(*operator, &odd_sizes(*operator), Element::F32);
    let seeds: Vec<Vec<u8>> = Operator::ALL
        .iter()
        .flat_map(every)
        .map(|case| file(case).into_bytes())
        .collect();
    Target {
        name: "failed_call",
        seeds,
        dictionary: &[
            "\"operator\":\"conv2d\"",
            "\"operator\":\"gather\"",
            "\"shape\":[",
            "\"layout\":\"sliced\"",
            "\"dim\":1",
            "\"dim\":null",
            "\"groups\":0",
            "\"padding\":[1,1]",
            "\"stride\":[0]",
            "\"kernel\":[",
            "\"range\":[1,3,0]",
            "\"causal\":true",
            "\"element\":\"bool\"",
            "\"element\":\"i32\"",
            "\"NaN\"",
            "\"inf\"",
            "-0.0",
            "9007199254740993",
        ],
        repair: None,
        executions: 3000,
        behaviours: 30,
        check: &|bytes| match std::str::from_utf8(bytes).map(FailedCall::from_json) {
            Ok(Ok(failed)) => check(&failed),
            Ok(Err(problem)) => {
                assert_message(&problem);
                problem
                    .chars()
                    .filter(|c| !c.is_ascii_digit())
                    .take(40)
                    .collect()
            }
            Err(_) => "not UTF-8".to_owned(),
        },
    }
    .run();
}

fn file(case: Case) -> String {
    let reference = reference(&case.call, Arithmetic::for_precision(Precision::F32));
    let failed = FailedCall {
        version: FailedCall::VERSION,
        subject: "fuzzed".to_owned(),
        check: Check::Forward,
        case: case.description(),
        precision: Precision::F32,
        tf32: false,
        device: DeviceKind::Cpu,
        device_name: None,
        simulated: false,
        engine: None,
        failure: "wrong".to_owned(),
        again: Again {
            plain: Repetition::Same,
            blocking: None,
        },
        kernels: Vec::new(),
        expected: Expected {
            shape: Vec::new(),
            element: Element::F32,
            values: vec![0.5],
            bounds: vec![0.0],
        },
        actual: Actual::Computed(reference.tensor()),
        call: case.call,
    };
    failed.to_json()
}

fn check(failed: &FailedCall) -> String {
    let operator = failed.call.operator;
    match result_elements(&failed.call) {
        Err(problem) => {
            assert_message(&problem);
            format!(
                "{operator} {}",
                problem
                    .chars()
                    .filter(|c| !c.is_ascii_digit())
                    .take(40)
                    .collect::<String>()
            )
        }
        Ok(elements) if elements > 4096 => "large".to_owned(),
        Ok(elements) => {
            assert_reference(&failed.call, elements);
            let mut left = 20;
            reduce(&failed.call, |smaller| {
                left -= 1;
                let elements =
                    result_elements(smaller).unwrap_or_else(|problem| panic!("{problem}"));
                assert_reference(smaller, elements);
                (left > 0).then_some(left % 2 == 0)
            });
            format!("{operator} computed")
        }
    }
}

fn assert_reference(call: &Call, elements: usize) {
    let floats = call
        .inputs
        .iter()
        .any(|input| input.tensor.element.is_float());
    let arithmetic = if floats {
        Arithmetic::for_precision(Precision::F32)
    } else {
        Arithmetic::exact(Element::I32)
    };
    assert_eq!(
        reference(call, arithmetic).numbers.len(),
        elements,
        "{}",
        call.operator
    );
}
