//! Tensors that are copied to the device in parts, and back: every element is where it was.

use burn_tensor::DType;
use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use testgen_gpu::{Gpu, GpuDevice};
use testgen_nn::backend;

const TYPES: &[DType] = &[DType::F32, DType::BF16];
/// A few and millions of elements; rows of 2000 bytes are padded on the device.
const SHAPES: &[[usize; 3]] = &[[1, 3, 7], [2, 3000, 500], [3, 1700, 1024]];

/// The number of lines that [`agree`] prints with "agrees".
pub(super) fn count() -> usize {
    TYPES.len() * SHAPES.len()
}

/// Copies every tensor and prints a line for each.
pub(super) fn agree(gpu: &GpuDevice) -> bool {
    let mut all = true;
    for (&shape, &dtype) in SHAPES
        .iter()
        .flat_map(|shape| TYPES.iter().map(move |dtype| (shape, dtype)))
    {
        let expected = elements(0, shape.iter().product(), dtype);
        let written = AtomicUsize::new(0);
        let tensor = backend::put::<Gpu, Infallible, 3>(shape, dtype, gpu, |first, out| {
            written.fetch_add(out.len(), SeqCst);
            let count = out.len() / dtype.size();
            out.copy_from_slice(&elements(first * shape[2], count, dtype));
            Ok(())
        });
        let Ok(tensor) = tensor;
        let read = tensor.into_data();
        let agrees = written.into_inner() == expected.len() && *read.bytes == *expected;
        all &= agrees;
        println!(
            "{} copies of {shape:?} {dtype:?}",
            if agrees { "agrees" } else { "DIFFERS" }
        );
    }
    all
}

/// The bytes of `count` elements from the one with this index on. None is that of a neighbour.
fn elements(start: usize, count: usize, dtype: DType) -> Vec<u8> {
    let indices = start..start + count;
    match dtype {
        // All bits below those of an infinity.
        DType::BF16 => indices
            .flat_map(|index| ((index % 0x7f80) as u16).to_ne_bytes())
            .collect(),
        _ => indices
            .flat_map(|index| (index as f32).to_ne_bytes())
            .collect(),
    }
}
