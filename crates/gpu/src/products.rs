//! Matrix products as a kernel sees them, and a record of the products that a thread computed.

use crate::{runtime::GpuRuntime, tf32};
use burn_backend::{DType, TensorMetadata};
use burn_cubecl::tensor::CubeTensor;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;
use testgen_types::Precision;

/// A factor: its sizes and the distances between neighbours, in elements. The last two dimensions
/// are rows and columns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Factor {
    /// The sizes.
    pub shape: Vec<usize>,
    /// The distances.
    pub strides: Vec<usize>,
}

/// A matrix product. Both factors have the same number of dimensions; a batch dimension of size 1
/// is repeated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Product {
    /// The left factor, [..., rows, inner].
    pub left: Factor,
    /// The right factor, [..., inner, columns].
    pub right: Factor,
    /// The type of the elements; TF32: f32 that matrix units may compute in TF32.
    pub precision: Precision,
}

thread_local! {
    static RECORDED: RefCell<Option<BTreeSet<Product>>> = const { RefCell::new(None) };
}

/// Runs `run`, and returns every product of floating-point numbers that it computed on this thread.
pub fn record_products<T>(run: impl FnOnce() -> T) -> (T, BTreeSet<Product>) {
    RECORDED.set(Some(BTreeSet::new()));
    // A panic leaves the record to the next call, which replaces it.
    let result = run();
    (result, RECORDED.take().unwrap_or_default())
}

pub(crate) fn record(left: &CubeTensor<GpuRuntime>, right: &CubeTensor<GpuRuntime>) {
    RECORDED.with_borrow_mut(|recorded| {
        let (Some(recorded), Some(precision)) = (recorded, precision(left.dtype)) else {
            return;
        };
        let (left, right) = (Factor::from_tensor(left), Factor::from_tensor(right));
        // Nothing is computed for an empty factor.
        if left.count() == 0 || right.count() == 0 {
            return;
        }
        recorded.insert(Product {
            left,
            right,
            precision,
        });
    });
}

pub(crate) fn precision(dtype: DType) -> Option<Precision> {
    match dtype {
        // By the permission of the thread, because a tensor is f32 in memory in both cases.
        DType::F32 if tf32::is_permitted() => Some(Precision::Tf32),
        DType::F32 => Some(Precision::F32),
        DType::F16 => Some(Precision::F16),
        DType::BF16 => Some(Precision::Bf16),
        _ => None,
    }
}

/// The type of tensors in memory.
pub fn dtype(precision: Precision) -> DType {
    match precision {
        Precision::F32 | Precision::Tf32 => DType::F32,
        Precision::F16 => DType::F16,
        Precision::Bf16 => DType::BF16,
    }
}

impl Factor {
    pub(crate) fn from_tensor(tensor: &CubeTensor<GpuRuntime>) -> Self {
        Self {
            shape: tensor.shape().to_vec(),
            strides: tensor.meta.strides().to_vec(),
        }
    }

    /// A factor whose rows follow each other.
    pub fn contiguous(shape: Vec<usize>) -> Self {
        let mut strides = vec![1; shape.len()];
        for dimension in (1..shape.len()).rev() {
            strides[dimension - 1] = strides[dimension] * shape[dimension];
        }
        Self { shape, strides }
    }

    /// Whether its columns are neighbours, as [`is_row_major_product`] asks of a right factor.
    ///
    /// [`is_row_major_product`]: crate::fused::is_row_major_product
    pub(crate) fn is_row_major(&self) -> bool {
        let [_, columns] = self.matrix();
        // A single column has no neighbour, so that its stride does not matter.
        let neighbours = self.strides.last() == Some(&1) || columns == 1;
        // The kernel has at most two batch dimensions.
        neighbours && self.shape.len() <= 4
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of elements from the first to the last in memory, both included.
    pub fn extent(&self) -> usize {
        let last: usize = self
            .shape
            .iter()
            .zip(&self.strides)
            .map(|(size, stride)| (size - 1) * stride)
            .sum();
        // By the sum of all steps and not by the first stride, because a view can be transposed.
        last + 1
    }

    /// The position of each element in memory, row-major.
    pub fn offsets(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).map(|index| {
            let dimensions = self.shape.iter().zip(&self.strides).rev();
            let (offset, _) = dimensions.fold((0, index), |(offset, rest), (size, stride)| {
                (offset + rest % size * stride, rest / size)
            });
            offset
        })
    }

    fn matrix(&self) -> [usize; 2] {
        let dimensions = self.shape.len();
        [self.shape[dimensions - 2], self.shape[dimensions - 1]]
    }

    /// The batch dimensions as one, laid out as [batch, rows, 1, columns] with its middle
    /// dimensions exchanged: the dimension of the single head has the stride of a row.
    fn with_one_head(&self) -> Self {
        let dimensions = self.shape.len();
        let [rows, columns] = self.matrix();
        // The layout is kept, because it decides which kernel computes the product.
        let is_transposed = self.strides[dimensions - 1] > self.strides[dimensions - 2];
        let (row, strides) = if is_transposed {
            (rows, [1, rows])
        } else {
            (columns, [columns, 1])
        };
        let batch = self.count() / (rows * columns);
        Self {
            shape: vec![batch, 1, rows, columns],
            strides: vec![rows * columns, row, strides[0], strides[1]],
        }
    }

    /// The number of the matrix that matrix `index` of a result is computed from; `batch` is the
    /// batch of the result.
    fn matrix_number(&self, batch: &[usize], index: usize) -> usize {
        let sizes = batch.iter().zip(&self.shape).rev();
        let (number, _, _) = sizes.fold((0, 1, index), |(number, step, rest), (size, own)| {
            // A repeated dimension has the size 1, which makes its index 0 for every matrix of the
            // result.
            (number + (rest % size) % own * step, step * own, rest / size)
        });
        number
    }
}

impl Product {
    /// Rows, inner length and columns.
    pub fn sizes(&self) -> [usize; 3] {
        let ([rows, inner], [_, columns]) = (self.left.matrix(), self.right.matrix());
        [rows, inner, columns]
    }

    /// The shape of the result.
    pub fn output_shape(&self) -> Vec<usize> {
        let [rows, _, columns] = self.sizes();
        let mut shape = self.batch_shape();
        shape.extend([rows, columns]);
        shape
    }

    /// For each matrix of the result, the numbers of the matrices of the left and of the right
    /// factor.
    pub fn batches(&self) -> Vec<(usize, usize)> {
        let shape = self.batch_shape();
        (0..shape.iter().product())
            .map(|index| {
                (
                    self.left.matrix_number(&shape, index),
                    self.right.matrix_number(&shape, index),
                )
            })
            .collect()
    }

    fn batch_shape(&self) -> Vec<usize> {
        let batches = self.left.shape.len() - 2;
        let sizes = self.left.shape.iter().zip(&self.right.shape).take(batches);
        sizes.map(|(left, right)| *left.max(right)).collect()
    }

    /// The same matrices as an attention with a single head has them, if there are several and none
    /// is repeated.
    pub fn with_one_head(&self) -> Option<Self> {
        let batches = self.left.shape.len() - 2;
        let (left, right) = (&self.left.shape[..batches], &self.right.shape[..batches]);
        let applies = left == right && left.iter().product::<usize>() > 1;
        applies.then(|| Self {
            left: self.left.with_one_head(),
            right: self.right.with_one_head(),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Factor, Precision, Product};

    fn product(left: &[usize], right: &[usize]) -> Product {
        let [left, right] = [left, right].map(|shape| Factor::contiguous(shape.to_vec()));
        Product {
            left,
            right,
            precision: Precision::F32,
        }
    }

    #[test]
    fn offsets_follow_the_strides() {
        let contiguous = Factor::contiguous(vec![2, 2, 3]);
        assert_eq!(contiguous.strides, [6, 3, 1]);
        assert_eq!(
            contiguous.offsets().collect::<Vec<_>>(),
            (0..12).collect::<Vec<_>>()
        );
        let transposed = Factor {
            shape: vec![3, 2],
            strides: vec![1, 3],
        };
        assert_eq!(transposed.offsets().collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert_eq!((transposed.count(), transposed.extent()), (6, 6));
        assert_eq!(
            Factor {
                shape: vec![2, 2],
                strides: vec![8, 1]
            }
            .extent(),
            10
        );
    }

    #[test]
    fn a_batch_dimension_of_one_is_repeated() {
        let repeated = product(&[2, 3, 4, 5], &[1, 3, 5, 6]);
        assert_eq!(
            (repeated.sizes(), repeated.output_shape()),
            ([4, 5, 6], vec![2, 3, 4, 6])
        );
        assert_eq!(
            repeated.batches(),
            [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)]
        );
        assert_eq!(product(&[4, 5], &[5, 6]).batches(), [(0, 0)]);
    }

    #[test]
    fn one_head_keeps_the_matrices_and_moves_the_stride() {
        let mut several = product(&[2, 4, 8, 16], &[2, 4, 16, 8]);
        several.right.strides = vec![512, 128, 1, 16];
        let one = several.with_one_head().expect("there are several batches");
        assert_eq!(
            (one.left.shape, one.left.strides),
            (vec![8, 1, 8, 16], vec![128, 16, 16, 1])
        );
        assert_eq!(
            (one.right.shape, one.right.strides),
            (vec![8, 1, 16, 8], vec![128, 16, 1, 16])
        );
        assert_eq!(product(&[4, 5], &[5, 6]).with_one_head(), None);
        assert_eq!(product(&[2, 4, 5], &[1, 5, 6]).with_one_head(), None);
    }
}
