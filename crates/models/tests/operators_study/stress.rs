//! Stress cases on the host processor: without a fault they pass, with each seeded fault one run
//! fails.

mod device;
mod faults;

use crate::host::{PRECISIONS, host};
use device::Faulty;
use testgen_operators::{
    calls::{CallError, Element, Execute},
    cases::{Arithmetic, Stress, StressCase, StressResult, stress_cases},
};
use testgen_types::{DeviceKind, Operator, Precision};

/// Shapes of each kind of operator that the host processor computes in a second.
const SHAPES: &[(Operator, &[usize])] = &[
    (Operator::Add, &[70_001, 41]),
    (Operator::Lt, &[1001, 41]),
    (Operator::Gelu, &[1001, 41]),
    (Operator::Softmax, &[41, 14_401]),
    (Operator::Sum, &[70_001, 41]),
    (Operator::Matmul, &[45, 8193, 53]),
    (Operator::Matmul, &[1, 4097, 53]),
    (Operator::MatmulBiasRelu, &[45, 1025, 53]),
    (Operator::BatchMatmul, &[7, 33, 1025, 41]),
    (Operator::Transpose, &[2001, 41]),
    (Operator::Conv2d, &[7, 384, 3, 5, 7, 3]),
    (Operator::MaxPool2d, &[7, 13, 9, 11, 3]),
    (Operator::LayerNorm, &[1001, 1280]),
    (Operator::GroupNorm, &[7, 2, 3, 35]),
    (Operator::RmsNorm, &[41, 8193]),
    (Operator::Contiguous, &[2001, 41]),
    (Operator::LayoutTransform, &[7, 13, 17, 19]),
    (Operator::Embedding, &[70_001, 41, 37]),
    (Operator::CrossEntropyLoss, &[41, 32_003]),
    (Operator::Rope, &[1, 4, 8193, 8]),
    (Operator::ScaledDotProductAttention, &[3, 4, 7, 4097, 8]),
    (Operator::ScaledDotProductAttention, &[1, 1, 65, 129, 384]),
    (Operator::WeightedSum, &[70_001, 41]),
];

/// Runs a case as the suite does.
pub(crate) fn stressed(
    device: &(dyn Execute + Sync),
    precision: Precision,
    case: &StressCase,
) -> Result<StressResult, CallError> {
    Stress {
        executor: device,
        arithmetic: Arithmetic::for_precision(precision),
        device: DeviceKind::Cpu,
    }
    .run(case, true)
}

#[test]
fn every_case_passes_without_a_fault() {
    let mut failures = Vec::new();
    for precision in PRECISIONS {
        let device = host(precision);
        for (operator, sizes) in SHAPES {
            let cases = stress_cases(*operator, sizes, Element::for_precision(precision));
            assert!(!cases.is_empty(), "{operator}");
            for case in cases {
                let failure = match stressed(device.as_ref(), precision, &case) {
                    Ok(result) => result.failure,
                    Err(error) => Some(error.to_string()),
                };
                failures.extend(failure.map(|failure| {
                    format!(
                        "{operator} {precision} of {}: {failure}",
                        case.description()
                    )
                }));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_fault_of_large_sizes_is_detected() {
    let (mut undetected, faults) = (Vec::new(), faults::all());
    for fault in &faults {
        let host = host(fault.precision);
        let cases = stress_cases(
            fault.operator,
            fault.sizes,
            Element::for_precision(fault.precision),
        );
        let found = cases.iter().find_map(|case| {
            let faulty = Faulty::new(host.as_ref(), fault);
            match stressed(&faulty, fault.precision, case) {
                Ok(result) => result.failure,
                Err(error) => Some(error.to_string()),
            }
        });
        match found {
            Some(failure) if failure.contains("before the operator") => undetected.push(failure),
            Some(failure) => println!("{}: {failure}", fault.name),
            None => undetected.push(fault.name.to_owned()),
        }
    }
    assert!(
        undetected.is_empty(),
        "{} of {} faults are not detected: {undetected:?}",
        undetected.len(),
        faults.len()
    );
    assert!(faults.len() >= 30, "only {} faults", faults.len());
}

#[test]
fn inputs_that_are_wrong_on_the_device_are_named() {
    let host = host(Precision::F32);
    let case = stress_cases(Operator::Matmul, &[45, 65, 53], Element::F32).remove(0);
    // The operator is wrong, and so is what its inputs are read with.
    let faults = [Operator::Matmul, Operator::Dropout].map(faults::without_last_row);
    let both = Faulty::new(host.as_ref(), &faults[0]);
    let both = Faulty::new(&both, &faults[1]);
    let failure = stressed(&both, Precision::F32, &case)
        .ok()
        .and_then(|result| result.failure)
        .unwrap_or_default();
    assert!(
        failure
            .contains("; input 0 is wrong before the operator runs: 65 of 2925 elements are wrong"),
        "{failure}"
    );
}

#[test]
fn every_shape_of_the_specs_has_cases_whose_repetition_is_unambiguous() {
    for (operator, sizes) in crate::shapes::stress() {
        // Cases of large periods take seconds; the sizes decide alone.
        let cases = stress_cases(operator, &sizes, Element::F32);
        assert!(!cases.is_empty(), "{operator} {sizes:?}");
        for case in cases {
            let whole: usize = case.call.result.iter().product();
            assert!(
                case.period.iter().product::<usize>() <= 1 << 25,
                "{operator} {sizes:?}"
            );
            assert!(
                whole > 0 && case.bytes() > 0 && case.work > 0,
                "{operator} {sizes:?}"
            );
        }
    }
}
