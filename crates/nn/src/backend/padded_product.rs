//! Matrix products in the shapes that the kernels of cubek-matmul 0.2 compute correctly.
//!
//! Its autotuner keeps one choice for all sizes up to the next power of two, and two of its kernels depend on more
//! (both seen on an H100, docs/hardware.md):
//!
//! - `vecmat_unit_perpendicular`, for a single row or column, refuses other multiples than those it was chosen for;
//! - `ordered_double_mma`, for sizes of 512 and more, reads past an inner dimension that is not a multiple of its stage,
//!   into uninitialised memory, which may contain NaN.
//!
//! So a single row or column is padded with a second one of zeros, and the inner dimension is padded with zeros.

use burn::tensor::{Shape, TensorMetadata, backend::Backend, ops::FloatTensor};

/// The longest stage of the kernel that reads past the end: two of 32 elements in 16 bits.
const STAGE: usize = 64;
/// From here on the autotuner tries that kernel (`MatmulGlobalScale::from_size`).
const LARGE: usize = 512;

/// `left` [..., rows, inner] times `right` [..., inner, columns].
pub(super) fn padded_product<B: Backend>(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
    let [rows, inner] = last_two::<B>(&left);
    let [_, columns] = last_two::<B>(&right);
    let stages = if rows.max(inner).max(columns) < LARGE { inner } else { inner.next_multiple_of(STAGE) };
    let dimension = left.shape().num_dims() - 2;
    let left = fill::<B>(fill::<B>(left, dimension, rows.max(2)), dimension + 1, stages);
    let right = fill::<B>(fill::<B>(right, dimension, stages), dimension + 1, columns.max(2));
    let product = B::float_matmul(left, right);
    cut::<B>(cut::<B>(product, dimension, rows), dimension + 1, columns)
}

fn last_two<B: Backend>(x: &FloatTensor<B>) -> [usize; 2] {
    let shape = x.shape();
    let dimensions = shape.num_dims();
    [shape[dimensions - 2], shape[dimensions - 1]]
}

/// `x` with zeros up to `length` in `dimension`.
fn fill<B: Backend>(x: FloatTensor<B>, dimension: usize, length: usize) -> FloatTensor<B> {
    let mut shape = x.shape().to_vec();
    if shape[dimension] == length {
        return x;
    }
    shape[dimension] = length - shape[dimension];
    let zeros = B::float_zeros(Shape::from(shape), &B::float_device(&x), x.dtype().into());
    B::float_cat(vec![x, zeros], dimension)
}

/// The first `length` of `dimension`.
fn cut<B: Backend>(x: FloatTensor<B>, dimension: usize, length: usize) -> FloatTensor<B> {
    let ranges: Vec<_> = x.shape().to_vec();
    if ranges[dimension] == length {
        return x;
    }
    let slices: Vec<_> = ranges
        .iter()
        .enumerate()
        .map(|(index, size)| (0..if index == dimension { length } else { *size }).into())
        .collect();
    B::float_slice(x, &slices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cpu;
    use burn::tensor::{Tensor, TensorData, TensorPrimitive};

    fn tensor<const D: usize>(shape: [usize; D]) -> Tensor<Cpu, D> {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0).collect::<Vec<_>>();
        Tensor::from_data(TensorData::new(values, shape), &Default::default())
    }

    #[track_caller]
    fn assert_plain<const D: usize>(left: [usize; D], right: [usize; D]) {
        let (left, right) = (tensor(left), tensor(right));
        let padded =
            padded_product::<Cpu>(left.clone().into_primitive().tensor(), right.clone().into_primitive().tensor());
        let padded = Tensor::<Cpu, D>::from_primitive(TensorPrimitive::Float(padded)).into_data();
        padded.assert_approx_eq::<f32>(&left.matmul(right).into_data(), Default::default());
    }

    #[test]
    fn padding_changes_no_product() {
        assert_plain([645, 48], [48, 32]);
        assert_plain([2, 3, 1, 8], [2, 3, 8, 33]);
        assert_plain([2, 3, 7, 513], [2, 3, 513, 1]);
        assert_plain([1, 5], [5, 1]);
    }

    #[test]
    fn a_padded_dimension_has_zeros_after_its_values() {
        let x = tensor([2, 3]);
        let filled = fill::<Cpu>(x.clone().into_primitive().tensor(), 1, 5);
        let filled = Tensor::<Cpu, 2>::from_primitive(TensorPrimitive::Float(filled));
        assert_eq!(filled.dims(), [2, 5]);
        assert_eq!(filled.clone().narrow(1, 0, 3).into_data(), x.into_data());
        assert_eq!(filled.narrow(1, 3, 2).into_data().to_vec::<f32>().expect("the values are f32"), [0.0; 4]);
    }
}
