//! Each kind of operator with and without its faults.

use super::{SimulatedKind, SimulatedPrimitive, SimulatedWindow};
use crate::{
    fault::Faults,
    matrix::{MatrixType, SimulatedTensor, positions},
    primitive_arithmetic::{SimulatedFunction, SimulatedReduction},
    product::InjectedProductError,
};

fn tensor(data: &mut [f32], lengths: &[usize]) -> SimulatedTensor {
    let strides = (0..lengths.len()).map(|dimension| lengths[dimension + 1..].iter().product());
    SimulatedTensor {
        data: data.as_mut_ptr().cast(),
        number: MatrixType::F32,
        lengths: lengths.to_vec(),
        strides: strides.collect(),
    }
}

fn computed(
    kind: SimulatedKind,
    x: &[f32],
    [from, to]: [&[usize]; 2],
    faults: &str,
) -> Result<Vec<f32>, InjectedProductError> {
    let mut x = x.to_vec();
    let mut y = vec![f32::NAN; positions(to).len() + 1];
    let primitive = SimulatedPrimitive {
        kind,
        x: tensor(&mut x, from),
        y: tensor(&mut y, to),
    };
    let faults: Faults = faults.parse().map_err(|_| InjectedProductError)?;
    // SAFETY: both tensors have the elements of their lengths, and y one more.
    unsafe { primitive.compute(&faults)? };
    Ok(y)
}

fn softmax(shifted: bool, x: &[f32], faults: &str) -> Vec<f32> {
    let kind = SimulatedKind::Softmax {
        shifted,
        logarithm: false,
        instance: true,
    };
    let shape = [1, x.len(), 1, 1];
    computed(kind, x, [&shape, &shape], faults).expect("is computed")
}

#[test]
fn a_softmax_without_the_maximum_overflows() {
    assert_eq!(softmax(true, &[3.0, 3.0], "")[..2], [0.5, 0.5]);
    assert_eq!(softmax(false, &[3.0, 3.0], "")[..2], [0.5, 0.5]);
    assert_eq!(softmax(true, &[96.0, 96.0], "")[..2], [0.5, 0.5]);
    assert!(softmax(false, &[96.0, 96.0], "")[0].is_nan());
    assert!(softmax(true, &[96.0, 96.0], "primitive=shift")[0].is_nan());
}

#[test]
fn a_softmax_of_channels_has_a_group_for_each_position() {
    let kind = SimulatedKind::Softmax {
        shifted: true,
        logarithm: true,
        instance: false,
    };
    let shape = [1, 2, 2, 1];
    let y = computed(kind, &[0.0, 1.0, 0.0, 1.0], [&shape, &shape], "").expect("is computed");
    let half = -std::f32::consts::LN_2;
    assert_eq!(y[..4], [half; 4]);
}

#[test]
fn activations_keep_nan() {
    let kind = SimulatedKind::Activation(SimulatedFunction::ClippedRelu(6.0));
    let run = |faults| {
        let x = [-2.0, 3.0, 9.0, f32::NAN];
        computed(kind.clone(), &x, [&[1, 1, 1, 4], &[1, 1, 1, 4]], faults).expect("is computed")
    };
    assert_eq!(run("")[..3], [0.0, 3.0, 6.0]);
    assert!(run("")[3].is_nan());
    assert_eq!(run("primitive=sign")[..3], [2.0, 3.0, 6.0]);
    assert_eq!(run("primitive=beyond")[4], 1.0);
    assert!(run("primitive=silent")[0].is_nan());
    let refused = computed(kind.clone(), &[1.0], [&[1], &[1]], "primitive=refuse");
    assert_eq!(refused, Err(InjectedProductError));
}

#[test]
fn a_reduction_has_a_number_for_each_group() {
    let reduce = |reduction, faults| {
        let x: Vec<f32> = (0..600).map(|index| (index % 2) as f32).collect();
        let kind = SimulatedKind::Reduction(reduction);
        let shapes: [&[usize]; 2] = [&[1, 300, 2, 1], &[1, 1, 2, 1]];
        computed(kind, &x, shapes, faults).expect("is computed")
    };
    assert_eq!(reduce(SimulatedReduction::Sum, "")[..2], [0.0, 300.0]);
    assert_eq!(reduce(SimulatedReduction::Mean, "")[..2], [0.0, 1.0]);
    assert_eq!(reduce(SimulatedReduction::Maximum, "")[..2], [0.0, 1.0]);
    let dropped = reduce(SimulatedReduction::Sum, "primitive=block");
    assert_eq!(dropped[..2], [0.0, 256.0]);
}

#[test]
fn products_and_norms_are_reductions() {
    let reduce = |reduction, faults| {
        let kind = SimulatedKind::Reduction(reduction);
        let shapes: [&[usize]; 2] = [&[1, 3, 1, 1], &[1, 1, 1, 1]];
        computed(kind, &[2.0, -3.0, 6.0], shapes, faults).expect("is computed")[0]
    };
    assert_eq!(reduce(SimulatedReduction::Product, ""), -36.0);
    assert_eq!(reduce(SimulatedReduction::Product, "primitive=start"), 0.0);
    assert_eq!(reduce(SimulatedReduction::LargestMagnitude, ""), 6.0);
    assert_eq!(reduce(SimulatedReduction::Norm1, ""), 11.0);
    let signed = reduce(SimulatedReduction::Norm1, "primitive=magnitude");
    assert_eq!(signed, 5.0);
    assert_eq!(reduce(SimulatedReduction::Norm2, ""), 7.0);
    let squares = reduce(SimulatedReduction::Norm2, "primitive=root");
    assert_eq!(squares, 49.0);
}

#[test]
fn a_mean_of_windows_counts_padding_if_it_is_said() {
    let pool = |each, faults| {
        let kind = SimulatedKind::Pool {
            each,
            window: vec![1, 2],
            padding: vec![0, 1],
            stride: vec![1, 2],
        };
        let shapes: [&[usize]; 2] = [&[1, 1, 1, 3], &[1, 1, 1, 2]];
        computed(kind, &[2.0, 4.0, 6.0], shapes, faults).expect("is computed")[..2].to_vec()
    };
    assert_eq!(pool(SimulatedWindow::Maximum, ""), [2.0, 6.0]);
    assert_eq!(pool(SimulatedWindow::Mean, ""), [2.0, 5.0]);
    assert_eq!(pool(SimulatedWindow::MeanWithPadding, ""), [1.0, 5.0]);
    assert_eq!(pool(SimulatedWindow::Mean, "primitive=padding"), [1.0, 5.0]);
}
