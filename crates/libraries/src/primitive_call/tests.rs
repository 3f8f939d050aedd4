//! The problems of calls.

use crate::primitive::{PoolKind, PrimitiveKind, PrimitiveNormKind, PrimitiveProblem};
use testgen_operators::{
    calls::{Call, CallError, Element, HostTensor},
    cases::{cases, odd_sizes},
};
use testgen_types::Operator;

fn problems(operator: Operator) -> Vec<Result<PrimitiveProblem, CallError>> {
    let cases = cases(operator, &odd_sizes(operator), Element::F32);
    cases
        .iter()
        .map(|case| PrimitiveProblem::of_call(&case.call))
        .collect()
}

fn lengths(operator: Operator) -> Vec<[Vec<usize>; 2]> {
    let computed = problems(operator).into_iter().filter_map(Result::ok);
    computed.map(|problem| [problem.x, problem.y]).collect()
}

#[test]
fn the_dimension_of_a_softmax_is_the_second_one() {
    let shapes = lengths(Operator::Softmax);
    assert_eq!(shapes[0], [[3, 5, 1, 1], [3, 5, 1, 1]]);
    assert_eq!(shapes[1], [[1, 3, 5, 1], [1, 3, 5, 1]]);
}

#[test]
fn a_reduction_leaves_one_element_of_the_second_dimension() {
    let shapes = lengths(Operator::Sum);
    assert_eq!(shapes[0], [[3, 5, 1, 1], [3, 1, 1, 1]]);
    assert_eq!(shapes[1], [[1, 3, 5, 1], [1, 1, 5, 1]]);
    assert_eq!(shapes[2], [[1, 15, 1, 1], [1, 1, 1, 1]]);
    let none = Call::new(
        Operator::Sum,
        vec![HostTensor::new([0], Element::F32, Vec::new())],
        Default::default(),
    );
    let refused = PrimitiveProblem::of_call(&none);
    assert!(
        matches!(refused, Err(CallError::Unsupported { .. })),
        "{refused:?}"
    );
}

#[test]
fn parameters_of_a_batch_norm_have_single_precision() {
    let sizes = odd_sizes(Operator::BatchNorm);
    let mut call = cases(Operator::BatchNorm, &sizes, Element::F16)
        .remove(0)
        .call;
    let problem = PrimitiveProblem::of_call(&call).expect("is a norm");
    assert_eq!([&problem.x, &problem.y], [&[2, 3, 7, 1]; 2]);
    assert_eq!(
        (problem.shape.as_slice(), problem.element),
        (&[2, 3, 7][..], Element::F16)
    );
    assert_eq!(problem.parameters, [3; 4]);
    assert_eq!(problem.parameter_element(), Element::F32);
    assert_eq!(problem.kind, PrimitiveKind::BatchNorm { epsilon: 1e-5 });
    call.inputs.truncate(4);
    let refused = PrimitiveProblem::of_call(&call);
    assert!(
        matches!(refused, Err(CallError::Inputs { .. })),
        "{refused:?}"
    );
}

#[test]
fn norms_have_parameters_of_their_own_type() {
    let computed = |operator, plain: bool| {
        let mut call = cases(operator, &odd_sizes(operator), Element::F16)
            .remove(0)
            .call;
        if plain {
            for (index, input) in call.inputs.iter_mut().enumerate().skip(1) {
                input.tensor.values.fill(if index == 1 { 1.0 } else { 0.0 });
            }
        }
        let problem = PrimitiveProblem::of_call(&call).expect("is a norm");
        assert_eq!(problem.parameter_element(), Element::F16);
        let PrimitiveKind::Norm(norm) = &problem.kind else {
            panic!("not a norm: {problem:?}");
        };
        assert_eq!((norm.epsilon, norm.is_plain), (1e-5, plain));
        (norm.kind, problem.x, problem.parameters)
    };
    for plain in [false, true] {
        let layer = computed(Operator::LayerNorm, plain);
        assert_eq!(layer, (PrimitiveNormKind::Layer, vec![3, 5], vec![5, 5]));
        let rms = computed(Operator::RmsNorm, plain);
        assert_eq!(
            rms,
            (PrimitiveNormKind::RootMeanSquare, vec![3, 5], vec![5])
        );
        let group = computed(Operator::GroupNorm, plain);
        let kind = PrimitiveNormKind::Group { groups: 2 };
        assert_eq!(group, (kind, vec![2, 6, 7], vec![6, 6]));
    }
}

#[test]
fn pools_have_two_dimensions_and_no_dilation() {
    let problems = problems(Operator::MaxPool1d);
    let padded = problems[1].as_ref().expect("is offered");
    assert_eq!([&padded.x, &padded.y], [&[2, 3, 1, 7], &[2, 3, 1, 7]]);
    let PrimitiveKind::Pool(windows) = &padded.kind else {
        panic!("not a pool: {padded:?}");
    };
    assert_eq!(windows.kind, PoolKind::Max);
    assert_eq!([&windows.lengths, &windows.padding], [&[1, 3], &[0, 1]]);
    let dilated = &problems[2];
    assert!(
        matches!(dilated, Err(CallError::Unsupported { .. })),
        "{dilated:?}"
    );
}
