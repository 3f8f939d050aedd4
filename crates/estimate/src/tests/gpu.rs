//! Rows with gaps, parts that are copied, and orders of dimensions on a GPU.

use super::{machine, peak};
use crate::{
    convolution::ImageConvolution,
    elementwise::ActivationMemory,
    layers::ExpertSizes,
    pooling::{average_pool, max_pool},
    product::matmul,
    tensor::{AllocatedTensor, Backend, ElementType, empty},
};

const RELU: &str = "relu";

/// The peak of `run` on a GPU with an input of `dims`.
fn peak_of(element: ElementType, dims: &[u64], run: impl FnOnce(AllocatedTensor)) -> u64 {
    let machine = machine(Backend::Gpu, element);
    peak(&machine, || run(empty(&machine, dims, element)))
}

#[test]
fn windows_that_overlap_are_gathered_and_no_product_of_a_model() {
    let machine = machine(Backend::Gpu, ElementType::F32);
    let convolution = ImageConvolution::square([8, 4], 3, 1, 1);
    let convolved = || drop(convolution.forward(empty(&machine, &[2, 8, 4, 4], ElementType::F32)));
    let windows = 4 * 2 * 9 * 8 * 16;
    // Both orders of them: 72 numbers of each place, in rows of 512 bytes.
    assert_eq!(peak(&machine, convolved), windows + 2 * 16 * 512);
    assert!(machine.products.take().is_empty());
}

#[test]
fn windows_of_a_single_image_have_rows_of_the_kernels_width_on_the_way() {
    let convolution = ImageConvolution::square([8, 4], 3, 1, 1);
    let found = peak_of(ElementType::F16, &[1, 8, 4, 4], |x| {
        drop(convolution.forward(x));
    });
    // Rows of four and of three numbers take 16 bytes.
    assert_eq!(found, 9 * 8 * 4 * 16 + 16 * 8 * 3 * 16);
}

#[test]
fn a_convolution_of_single_channels_reads_a_copy_with_channels_last() {
    let convolution = ImageConvolution {
        depthwise: true,
        ..ImageConvolution::square([128; 2], 3, 1, 1)
    };
    let (image, kernel) = (4 * 128 * 16, 4 * 128 * 9);
    let convolved = |dims: [u64; 4], order: [usize; 4]| {
        peak_of(ElementType::F32, &dims, |x| {
            let y = convolution.forward(x.clone().permute(&order));
            assert_eq!(y.dims(), [1, 128, 4, 4]);
            drop((x, y));
        })
    };
    let [first, last] = [
        convolved([1, 128, 4, 4], [0, 1, 2, 3]),
        convolved([1, 4, 4, 128], [0, 3, 1, 2]),
    ];
    assert_eq!([first, last], [3 * image + kernel, 2 * image + kernel]);
}

#[test]
fn pooling_copies_channels_last() {
    let (image, small) = (4 * 128 * 16, 4 * 128 * 4);
    let run = |pool: fn(AllocatedTensor) -> AllocatedTensor| {
        peak_of(ElementType::F32, &[1, 128, 4, 4], |x| {
            let kept = x.clone();
            drop(pool(x));
            drop(kept);
        })
    };
    assert_eq!(run(max_pool), 2 * image + small);
    assert_eq!(run(average_pool), 2 * image + 4 * 128);
}

#[test]
fn a_part_that_begins_anywhere_is_copied() {
    let narrowed = |start| {
        peak_of(ElementType::F32, &[4, 64], |x| {
            let part = x.clone().narrow(0, start, 2);
            drop((part, x));
        })
    };
    assert_eq!([narrowed(0), narrowed(1), narrowed(2)], [1024, 1536, 1024]);
}

#[test]
fn a_function_and_a_norm_copy_rows_that_they_cannot_read() {
    let activated = |dims: &[u64]| {
        peak_of(ElementType::F16, dims, |x| {
            drop(x.activate(ActivationMemory::named(RELU)));
        })
    };
    assert_eq!(activated(&[4, 8]), 2 * 64);
    // Rows of six numbers take 16 bytes, but not in the copy and the result.
    assert_eq!(activated(&[4, 6]), 64 + 48);
    let normalised = |turned: bool| {
        peak_of(ElementType::F32, &[2, 128, 128], |x| {
            let x = if turned { x.swap(1, 2) } else { x };
            drop(x.layer_norm());
        })
    };
    let image = 4 * 2 * 128 * 128;
    assert_eq!(
        [normalised(false), normalised(true)],
        [2 * image, 3 * image]
    );
}

#[test]
fn heads_between_rows_and_columns_are_copied_before_a_product() {
    let scores = |element: ElementType, swapped: bool| {
        let machine = machine(Backend::Gpu, element);
        peak(&machine, || {
            // [batch, heads, seq, head_dim] of [batch, seq, heads, head_dim].
            let heads = || match swapped {
                true => empty(&machine, &[1, 16, 4, 128], element).swap(1, 2),
                false => empty(&machine, &[1, 4, 16, 128], element),
            };
            let [query, key] = [heads(), heads()];
            drop(matmul(query.clone(), key.clone().swap(2, 3)));
            drop((query, key));
        })
    };
    for element in [ElementType::F32, ElementType::F16] {
        let (factor, result) = (4 * 16 * 128, 4 * 16 * 16);
        let bytes = |elements: u64| element.bytes() * elements;
        assert_eq!(scores(element, false), bytes(2 * factor + result));
        assert_eq!(scores(element, true), bytes(4 * factor + result));
    }
}

#[test]
fn a_function_is_written_over_dimensions_in_any_order() {
    let mapped = |shared: bool| {
        peak_of(ElementType::F32, &[4, 128], |x| {
            let kept = shared.then(|| x.clone());
            drop(x.swap(0, 1).map());
            drop(kept);
        })
    };
    assert_eq!([mapped(false), mapped(true)], [2048, 2 * 2048]);
}

#[test]
fn matrices_of_experts_are_joined_while_they_are_loaded() {
    let experts = ExpertSizes {
        width: 4,
        inner: 96,
        count: 3,
        activation: ActivationMemory::named(RELU),
    };
    let loaded = |backend, element| {
        let machine = machine(backend, element);
        experts.load(&machine);
        machine.load.get()
    };
    // Gate and up of each, in rows of 192 bytes that take 256.
    assert_eq!(loaded(Backend::Gpu, ElementType::F16), 2 * 3 * 4 * 256);
    assert_eq!(loaded(Backend::Host, ElementType::F16), 0);
}
