//! A tensor as rows of its last dimension.

use super::block;
use crate::runtime::GpuTensor;
use burn_backend::TensorMetadata;
use burn_cubecl::{
    kernel::into_contiguous, ops::numeric::empty_device_contiguous_dtype, tensor::CubeTensor,
};
use cubecl::prelude::{AddressType, CubeCount, CubeDim};

/// A tensor whose rows have one distance from each other.
pub(super) struct StridedRows {
    pub(super) tensor: GpuTensor,
    /// From one row to the next, in elements. More than the width if the allocator aligned the
    /// rows.
    pub(super) stride: usize,
}

impl StridedRows {
    /// `tensor`, copied if its rows do not follow each other.
    pub(super) fn new(tensor: GpuTensor) -> Self {
        let width = width(&tensor);
        match row_stride(tensor.meta.shape().as_slice(), tensor.meta.strides()) {
            Some(stride) => Self { tensor, stride },
            None => Self {
                tensor: into_contiguous(tensor),
                stride: width,
            },
        }
    }
}

/// The elements that a thread reads at once from rows of this width: more than one where no element
/// of a row is left over and every row begins at a multiple of them.
pub(super) fn vector(width: usize, strides: &[usize]) -> usize {
    let mut lengths = strides.iter().chain([&width]);
    if lengths.all(|length| length.is_multiple_of(VECTOR)) {
        VECTOR
    } else {
        1
    }
}

/// Four of f32 are the widest read of a GPU.
const VECTOR: usize = 4;

/// The length of the last dimension.
pub(super) fn width(tensor: &GpuTensor) -> usize {
    let shape = tensor.shape();
    shape[shape.num_dims() - 1]
}

/// The number of rows.
pub(super) fn count(tensor: &GpuTensor) -> usize {
    tensor.shape().num_elements() / width(tensor).max(1)
}

/// A contiguous tensor for a result with the shape and the type of `like`.
pub(super) fn output(like: &GpuTensor) -> GpuTensor {
    empty_device_contiguous_dtype(like.client.clone(), like.device, like.shape(), like.dtype)
}

/// Blocks for all rows: `threads` for each row, and as many rows in a block as fill it. A GPU
/// starts about one block in each cycle, which takes longer than a short row.
pub(super) fn blocks(rows: usize, threads: u32) -> (CubeCount, CubeDim) {
    let together = block::THREADS / threads;
    (
        CubeCount::Static(rows.div_ceil(together as usize) as u32, 1, 1),
        CubeDim::new_2d(threads, together),
    )
}

/// The type of indices that reaches every element of `tensors`.
pub(super) fn address_type<const N: usize>(tensors: [&GpuTensor; N]) -> AddressType {
    tensors
        .into_iter()
        .map(CubeTensor::required_address_type)
        .max()
        .unwrap_or_default()
}

/// The distance of rows, if it is the same for all of them and a row has no gaps.
fn row_stride(shape: &[usize], strides: &[usize]) -> Option<usize> {
    let last = shape.len() - 1;
    if strides[last] != 1 && shape[last] != 1 {
        return None;
    }
    // Dimensions of length one have any stride.
    let mut outer = (0..last).rev().filter(|dimension| shape[*dimension] != 1);
    let Some(first) = outer.next() else {
        return Some(shape[last]);
    };
    let mut next = strides[first] * shape[first];
    for dimension in outer {
        if strides[dimension] != next {
            return None;
        }
        next = strides[dimension] * shape[dimension];
    }
    Some(strides[first])
}

#[cfg(test)]
mod tests {
    use super::{row_stride, vector};

    #[test]
    fn vectors_divide_rows_and_their_distances() {
        assert_eq!(vector(768, &[768, 1536]), 4);
        assert_eq!(vector(768, &[768, 770]), 1);
        assert_eq!(vector(7, &[8]), 1);
    }

    #[test]
    fn contiguous_rows_are_as_far_apart_as_they_are_wide() {
        assert_eq!(row_stride(&[2, 3, 5], &[15, 5, 1]), Some(5));
        assert_eq!(row_stride(&[5], &[1]), Some(5));
        assert_eq!(row_stride(&[1, 1, 5], &[99, 7, 1]), Some(5));
    }

    #[test]
    fn aligned_rows_have_a_distance_of_their_own() {
        assert_eq!(row_stride(&[2, 3, 5], &[24, 8, 1]), Some(8));
    }

    #[test]
    fn other_layouts_have_none() {
        assert_eq!(row_stride(&[2, 3, 5], &[5, 10, 1]), None);
        assert_eq!(row_stride(&[3, 5], &[1, 3]), None);
        assert_eq!(row_stride(&[2, 3, 5], &[30, 5, 1]), None);
        // Broadcast rows.
        assert_eq!(row_stride(&[2, 3, 5], &[0, 5, 1]), None);
    }
}
