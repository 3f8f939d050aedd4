//! Convolutions, sums, and products that are computed in f32.

use super::{machine, peak};
use crate::{
    convolution::ImageConvolution,
    product::{Order, ProjectionMatrix},
    sequence_convolution::SequenceConvolution,
    tensor::{Backend, ElementType, empty, weight},
};

const SEQUENCE: SequenceConvolution = SequenceConvolution {
    channels: [128, 128],
    kernel: 3,
    stride: 1,
    padding: 1,
    groups: 1,
    bias: false,
};

#[test]
fn a_convolution_of_sequences_holds_its_windows() {
    let machine = machine(Backend::Gpu, ElementType::F32);
    let x = || empty(&machine, &[1, 4, 128], ElementType::F32);
    let convolved = || drop(SEQUENCE.forward(x()));
    // The padded input, and its windows.
    assert_eq!(peak(&machine, convolved), 4 * 128 * (6 + 4 * 3));
}

#[test]
fn a_length_needs_as_many_positions_as_make_it() {
    let strided = SequenceConvolution {
        kernel: 10,
        stride: 5,
        padding: 0,
        ..SEQUENCE
    };
    for length in [1, 2, 7] {
        let needed = strided.needed(length);
        assert_eq!(strided.length(needed), length);
        assert_eq!(strided.length(needed - 1), length - 1);
    }
    assert_eq!(SEQUENCE.length(5), 5);
}

#[test]
fn patches_are_copied_before_their_product() {
    let machine = machine(Backend::Host, ElementType::F32);
    let patches = ImageConvolution::patches([3, 5], [2, 2]);
    let (pixels, windows, result) = (3 * 4 * 4, 4 * 12, 4 * 5);
    let convolved = || {
        let y = patches.forward(empty(&machine, &[1, 3, 4, 4], ElementType::F32));
        assert_eq!(y.dims(), [1, 5, 2, 2]);
        assert_eq!(machine.ledger.now().total(), 4 * result);
    };
    assert_eq!(peak(&machine, convolved), 4 * (pixels + windows));
}

#[test]
fn channels_that_are_convolved_alone_need_no_copy() {
    let machine = machine(Backend::Host, ElementType::F32);
    let convolution = ImageConvolution {
        depthwise: true,
        ..ImageConvolution::square([32; 2], 7, 1, 3)
    };
    let image = 32 * 6 * 6;
    let convolved = || drop(convolution.forward(empty(&machine, &[1, 32, 6, 6], ElementType::F32)));
    assert_eq!(peak(&machine, convolved), 4 * 2 * image);
}

#[test]
fn long_sums_in_f16_are_computed_in_f32_on_the_host() {
    let product = |inner: u64| {
        let machine = machine(Backend::Host, ElementType::F16);
        let matrix = ProjectionMatrix {
            inner,
            out: 8,
            bias: false,
            order: Order::Turned,
        };
        let x = || empty(&machine, &[1, 3, inner], ElementType::F16);
        peak(&machine, || drop(matrix.forward(x())))
    };
    // The result is zeroed in memory that is then copied to an aligned place.
    assert_eq!(product(512), 2 * (3 * 512 + 2 * 3 * 8));
    // The input in f32, and the matrix in f32 and in 64 bits.
    assert_eq!(product(513), 4 * 3 * 513 + (4 + 8) * 513 * 8);
}

#[test]
fn a_number_for_each_row_is_added_in_place() {
    let machine = machine(Backend::Host, ElementType::F32);
    let x = |dims: &[u64]| empty(&machine, dims, ElementType::F32);
    drop(x(&[4, 2, 3]).combine(x(&[4, 1, 1])));
    assert_eq!(machine.ledger.peak().total(), 4 * (24 + 4));
    // Weights are never written over, and are counted with the checkpoint.
    let row = weight(&machine, &[4, 2, 3], ElementType::F32);
    let sum = row.combine(x(&[4, 2, 3]));
    assert_eq!(machine.ledger.now().total(), 4 * 24);
    drop(sum);
    assert_eq!(machine.ledger.peak().total(), 4 * 2 * 24);
}
