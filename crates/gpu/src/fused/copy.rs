//! Contiguous copies of tensors whose rows are dense, as the heads of attention are: burn's kernel
//! copies those with so few threads that it takes three times as long.

use super::rows::{address_type, output, width};
use crate::runtime::GpuTensor;
use burn_backend::{Shape, TensorMetadata};
use burn_cubecl::{kernel::into_contiguous, ops::reshape};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::*;

/// `tensor`, copied if it is not contiguous.
pub(crate) fn contiguous(tensor: GpuTensor) -> GpuTensor {
    let Some(rows) = (!tensor.is_contiguous())
        .then(|| DenseRows::new(&tensor))
        .flatten()
    else {
        return into_contiguous(tensor);
    };
    let output = output(&tensor);
    let vectors = tensor.shape().num_elements() / rows.vector;
    let dimension = CubeDim::new(&tensor.client, vectors);
    let cubes = calculate_cube_count_elemwise(&tensor.client, vectors, dimension);
    let dtype = tensor.dtype.into();
    copy_rows_kernel::launch(
        &output.client,
        cubes,
        dimension,
        address_type([&tensor, &output]),
        rows.vector,
        tensor.into_array_arg(),
        output.clone().into_array_arg(),
        vectors,
        rows.width,
        rows.lengths[1],
        rows.lengths[2],
        rows.steps[0],
        rows.steps[1],
        rows.steps[2],
        dtype,
    );
    output
}

/// `tensor` with two dimensions exchanged; nothing is copied.
pub(crate) fn swapped(mut tensor: GpuTensor, one: usize, other: usize) -> GpuTensor {
    tensor.meta.swap(one, other);
    tensor
}

/// [batch, heads, seq, head_dim] to [batch, seq, heads * head_dim].
pub fn merge_heads(x: GpuTensor) -> GpuTensor {
    let [batch, heads, seq, head_dim] = x.shape().dims();
    let merged = contiguous(swapped(x, 1, 2));
    reshape(merged, Shape::new([batch, seq, heads * head_dim]))
}

/// Rows of adjacent elements in up to three dimensions. Widths and steps are in vectors.
#[derive(Debug, PartialEq, Eq)]
struct DenseRows {
    /// The elements that a thread copies.
    vector: usize,
    width: usize,
    lengths: [usize; 3],
    steps: [usize; 3],
}

impl DenseRows {
    /// The most bytes that a thread reads at once.
    const VECTOR_BYTES: usize = 16;

    fn new(tensor: &GpuTensor) -> Option<Self> {
        let elements = Self::VECTOR_BYTES / tensor.dtype.size();
        if !tensor.dtype.is_float() || width(tensor) == 0 {
            return None;
        }
        Self::of_layout(tensor.shape().as_slice(), tensor.meta.strides(), elements)
    }

    /// `None` if elements of a row are not adjacent, or there are more than four dimensions.
    fn of_layout(shape: &[usize], strides: &[usize], most: usize) -> Option<Self> {
        let last = shape.len().checked_sub(1)?;
        if last > 3 || strides[last] != 1 {
            return None;
        }
        let (mut lengths, mut steps) = ([1; 3], [0; 3]);
        lengths[3 - last..].copy_from_slice(&shape[..last]);
        steps[3 - last..].copy_from_slice(&strides[..last]);
        // The step of a dimension of length one is not used.
        for (step, length) in steps.iter_mut().zip(lengths) {
            *step *= usize::from(length != 1);
        }
        let mut vector = most;
        while vector > 1
            && !(shape[last].is_multiple_of(vector)
                && steps.iter().all(|step| step.is_multiple_of(vector)))
        {
            vector /= 2;
        }
        Some(Self {
            vector,
            width: shape[last] / vector,
            lengths,
            steps: steps.map(|step| step / vector),
        })
    }
}

#[cube(launch, address_type = "dynamic")]
fn copy_rows_kernel<F: Float, N: Size>(
    x: &Array<Vector<F, N>>,
    output: &mut Array<Vector<F, N>>,
    vectors: usize,
    width: usize,
    second_length: usize,
    third_length: usize,
    first_step: usize,
    second_step: usize,
    third_step: usize,
    #[define(F)] _type: StorageType,
) {
    if ABSOLUTE_POS >= vectors {
        terminate!();
    }
    let row = ABSOLUTE_POS / width;
    let start = row / third_length / second_length * first_step
        + row / third_length % second_length * second_step
        + row % third_length * third_step;
    output[ABSOLUTE_POS] = x[start + ABSOLUTE_POS % width];
}

#[cfg(test)]
mod tests {
    use super::DenseRows;

    #[test]
    fn heads_are_rows_that_vectors_divide() {
        // [batch, heads, seq, head_dim] of [batch, seq, heads * head_dim].
        let rows = DenseRows::of_layout(&[2, 12, 7, 64], &[5376, 64, 768, 1], 8);
        let expected = DenseRows {
            vector: 8,
            width: 8,
            lengths: [2, 12, 7],
            steps: [672, 8, 96],
        };
        assert_eq!(rows, Some(expected));
    }

    #[test]
    fn a_vector_is_as_wide_as_rows_and_steps_allow() {
        let vector = |width, step| {
            let rows = DenseRows::of_layout(&[3, width], &[step, 1], 8);
            rows.map(|rows| (rows.vector, rows.lengths, rows.steps))
        };
        assert_eq!(vector(12, 16), Some((4, [1, 1, 3], [0, 0, 4])));
        assert_eq!(vector(16, 18), Some((2, [1, 1, 3], [0, 0, 9])));
        assert_eq!(vector(15, 16), Some((1, [1, 1, 3], [0, 0, 16])));
    }

    #[test]
    fn other_layouts_have_no_rows() {
        assert_eq!(DenseRows::of_layout(&[3, 5], &[1, 3], 4), None);
        let strides = [64, 32, 16, 8, 1];
        assert_eq!(DenseRows::of_layout(&[2; 5], &strides, 4), None);
    }
}
