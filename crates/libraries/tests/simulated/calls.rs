//! Calls of operators computed by a library, compared with the reference of the operators.

use crate::installation::run;
use crate::worker::opened;
use std::rc::Rc;
use testgen_libraries::LibraryExecutor;
use testgen_operators::{
    calls::{Call, CallError, Element, Execute, HostTensor, Layout},
    cases::{Arithmetic, cases, evaluate, reference},
};
use testgen_types::{Operator, Precision};

const SHAPES: &[(Operator, &[usize])] = &[
    (Operator::Matmul, &[1, 40, 24]),
    (Operator::Matmul, &[33, 65, 17]),
    (Operator::Matmul, &[2, 1000, 3]),
    (Operator::BatchMatmul, &[2, 33, 17, 19]),
    (Operator::BatchMatmul, &[3, 1, 40, 24]),
    (Operator::Gemm, &[33, 65, 17]),
];

/// In the subprocess: products of every shape, type and layout; operators other than products.
pub(crate) fn compare(library: &str) {
    for precision in [
        Precision::F32,
        Precision::Tf32,
        Precision::F16,
        Precision::Bf16,
    ] {
        let executor = LibraryExecutor::new(Rc::new(opened(library)), precision);
        for (operator, sizes) in SHAPES {
            for case in cases(*operator, sizes, Element::for_precision(precision)) {
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
    let executor = LibraryExecutor::new(Rc::new(opened(library)), Precision::F32);
    others(&executor);
}

pub(crate) fn compare_call(executor: &LibraryExecutor, call: &Call, precision: Precision) {
    let computed = executor
        .execute(call)
        .unwrap_or_else(|error| panic!("{error}"));
    let evaluation = evaluate(
        &reference(call, Arithmetic::for_precision(precision)),
        &computed.tensor,
    );
    assert_eq!(
        evaluation.failure,
        None,
        "{precision} {} {:?}",
        call.shapes(),
        call.inputs[0].layout
    );
}

fn others(executor: &LibraryExecutor) {
    let tensor =
        |shape: &[usize]| HostTensor::new(shape, Element::F32, vec![1.0; shape.iter().product()]);
    let call = |operator, shapes: &[&[usize]]| {
        Call::new(
            operator,
            shapes.iter().map(|shape| tensor(shape)).collect(),
            Default::default(),
        )
    };
    let empty = executor
        .execute(&call(Operator::Matmul, &[&[2, 0], &[0, 3]]))
        .expect("is computed");
    assert_eq!(
        (empty.tensor.shape, empty.tensor.values),
        (vec![2, 3], vec![0.0; 6])
    );
    let shared = executor
        .execute(&call(Operator::BatchMatmul, &[&[3, 2, 2], &[1, 2, 2]]))
        .expect("is computed");
    assert_eq!(
        (shared.tensor.shape, shared.tensor.values),
        (vec![3, 2, 2], vec![2.0; 12])
    );
    let unknown = executor.execute(&call(Operator::Relu, &[&[2]]));
    assert!(
        matches!(
            &unknown,
            Err(CallError::NotComputed {
                operator: Operator::Relu,
                ..
            })
        ),
        "{unknown:?}"
    );
    let wrong = executor.execute(&call(Operator::Matmul, &[&[2, 3], &[2, 3]]));
    assert!(matches!(&wrong, Err(CallError::Inputs { .. })), "{wrong:?}");
}

pub(crate) fn assert_passes(library: &str, faults: &str) -> String {
    let output = run(&format!("calls {library}"), faults);
    let text = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.success(), faults.is_empty(), "{text}");
    text
}

#[test]
fn calls_are_computed_by_rocblas() {
    assert_passes("rocblas", "");
}

#[test]
fn calls_are_computed_by_hipblaslt() {
    assert_passes("hipblaslt", "");
}

#[test]
fn a_call_fails_where_the_library_does() {
    assert!(assert_passes("hipblaslt", "blas=refuse").contains("HIPBLAS_STATUS_INTERNAL_ERROR"));
    assert!(assert_passes("rocblas", "blas=beyond").contains("has changed other memory"));
}
