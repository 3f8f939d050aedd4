//! Shapes, places in memory and errors of convolutions.

use super::ConvolutionProblem;
use testgen_operators::{
    calls::{Attributes, Call, Element, HostTensor},
    cases::{Arithmetic, cases, reference},
};
use testgen_types::{Operator, Precision};

#[test]
fn results_have_the_shape_of_the_reference() {
    for (operator, sizes) in [
        (Operator::Conv1d, &[2, 3, 4, 19, 3][..]),
        (Operator::Conv2d, &[2, 3, 4, 9, 11, 3]),
        (Operator::Conv3d, &[1, 2, 3, 5, 6, 7, 3]),
        (Operator::ConvTranspose2d, &[2, 3, 4, 5, 6, 3]),
    ] {
        let cases = cases(operator, sizes, Element::F32);
        assert_eq!(cases.len(), 4);
        for case in cases {
            let problem = ConvolutionProblem::of_call(&case.call, Precision::F32);
            let mut shape = problem.expect("is a convolution").y;
            if operator == Operator::Conv1d {
                assert_eq!(shape.remove(2), 1);
            }
            let reference = reference(&case.call, Arithmetic::for_precision(Precision::F32));
            assert_eq!(shape, reference.shape, "{}", case.description());
        }
    }
}

#[test]
fn places_in_memory_are_those_of_the_strides() {
    let case = cases(Operator::Conv2d, &[2, 3, 4, 5, 6, 3], Element::F32).remove(0);
    let problem = ConvolutionProblem::of_call(&case.call, Precision::F32);
    let rows = problem.expect("is a convolution");
    let last = ConvolutionProblem {
        channels_last: true,
        ..rows.clone()
    };
    assert_eq!(rows.strides(&rows.x), [90, 30, 6, 1]);
    assert_eq!(last.strides(&rows.x), [90, 1, 18, 3]);
    for problem in [rows, last] {
        let tensor = HostTensor::new(problem.x.clone(), Element::F32, vec![0.0; 180]);
        let strides = problem.strides(&problem.x);
        for flat in 0..tensor.len() {
            let position = tensor.position(flat);
            let place: usize = position.iter().zip(&strides).map(|(a, b)| a * b).sum();
            assert_eq!(problem.place(&problem.x, flat), place, "{position:?}");
        }
    }
}

#[test]
fn other_inputs_are_errors() {
    let problem = |x: &[usize], weight: &[usize], groups| {
        let tensor = |shape: &[usize]| {
            HostTensor::new(shape, Element::F32, vec![1.0; shape.iter().product()])
        };
        let attributes = Attributes {
            groups,
            ..Attributes::default()
        };
        let call = Call::new(
            Operator::Conv2d,
            vec![tensor(x), tensor(weight)],
            attributes,
        );
        ConvolutionProblem::of_call(&call, Precision::F32).err()
    };
    for (x, weight, groups, part) in [
        (&[1, 2, 3, 3][..], &[2, 2, 3][..], 1, "spatial dimensions"),
        (&[1, 2, 3, 3], &[2, 3, 3, 3], 1, "channels of the weight"),
        (&[1, 2, 3, 3], &[2, 2, 3, 4], 1, "longer than"),
        (&[1, 2, 3, 3], &[2, 2, 3, 0], 1, "no elements"),
        (&[1, 2, 3, 3], &[3, 1, 1, 1], 2, "do not divide"),
        (&[1, 2, 3, 3], &[2, 2, 1, 1], 0, "do not divide"),
    ] {
        let error = problem(x, weight, groups);
        assert!(
            error.is_some_and(|error| error.contains(part)),
            "{part}: {error:?}"
        );
    }
}
