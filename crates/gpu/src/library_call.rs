//! A matrix product of tensors as calls of a vendor's library.
//!
//! Owns the translation from shapes and strides; pure. A library reads a row-major matrix as the
//! transpose of one by columns, so that the result, the transpose of the library's, has its own
//! factors exchanged.

use crate::{
    library_launch::LibraryCall,
    products::{Factor, Product},
};
use testgen_libraries::{Epilogue, GemmCall, GemmTypes, MatrixStorage, NumberType};

/// The calls that compute `product` into `output`, or `None` if a factor has to be copied first:
/// neither its rows nor its columns are adjacent elements, or more calls than `most_calls` were
/// needed.
pub(crate) fn calls(
    product: &Product,
    output: &Factor,
    most_calls: usize,
) -> Option<Vec<LibraryCall>> {
    let types = GemmTypes::for_precision(product.precision);
    let [rows, inner, columns] = product.sizes();
    let batch = LibraryBatch::new(product, output);
    let outer: usize = batch.outer.iter().map(|dimension| dimension.size).product();
    // Before any call is built: a transposed view of a batch can have thousands of matrices, which
    // are not at equal distances and need a call each.
    if outer > most_calls {
        return None;
    }
    let number = types.result;
    let mut call = GemmCall {
        // The library computes the transpose of the result, so that rows and columns are exchanged,
        // and below so are the factors.
        rows: columns,
        columns: rows,
        inner,
        batch: batch.inner.size,
        arithmetic: types,
        transposed: [false; 2],
        alpha: 1.0,
        beta: 0.0,
        storage: [MatrixStorage {
            number,
            rows: columns,
            columns: rows,
            // Rows of a new tensor begin at multiples of the device's alignment.
            leading: output.strides[output.strides.len() - 2].max(columns),
            stride: batch.inner.output,
            batch: batch.inner.size,
        }; 3],
        epilogue: Epilogue::NONE,
        scaled: false,
    };
    for (index, (factor, stride)) in [
        (&product.right, batch.inner.right),
        (&product.left, batch.inner.left),
    ]
    .into_iter()
    .enumerate()
    {
        let (storage, transposed) = stored(factor, number, batch.inner.size, stride)?;
        call.storage[index] = storage;
        call.transposed[index] = transposed;
    }
    // Only now, when all strides are known: a batch whose matrices continue each other is a single
    // product with more columns.
    let gemm = call.with_joined_batch();
    Some(
        (0..outer)
            .map(|index| {
                let [left, right, output] = batch.offsets(index);
                LibraryCall {
                    gemm: gemm.clone(),
                    left,
                    right,
                    output,
                }
            })
            .collect(),
    )
}

/// A matrix of a factor as it is stored by columns, and whether that is its transpose.
fn stored(
    factor: &Factor,
    number: NumberType,
    batch: usize,
    stride: usize,
) -> Option<(MatrixStorage, bool)> {
    let last = factor.shape.len() - 1;
    let ([rows, columns], [row, column]) = (
        [factor.shape[last - 1], factor.shape[last]],
        [factor.strides[last - 1], factor.strides[last]],
    );
    let place = |rows, columns, leading| MatrixStorage {
        number,
        rows,
        columns,
        leading,
        stride,
        batch,
    };
    let by_rows = leading_dimension(row, rows, columns)
        .filter(|_| is_adjacent(column, columns))
        .map(|leading| (place(columns, rows, leading), false));
    by_rows.or_else(|| {
        leading_dimension(column, columns, rows)
            .filter(|_| is_adjacent(row, rows))
            .map(|leading| (place(rows, columns, leading), true))
    })
}

/// Whether the elements of a dimension follow each other.
fn is_adjacent(stride: usize, size: usize) -> bool {
    // The stride of a dimension of size 1 is not used.
    stride == 1 || size == 1
}

/// The leading dimension of a matrix with `stored_rows` in memory, from the stride and the size of
/// its other dimension.
fn leading_dimension(stride: usize, size: usize, stored_rows: usize) -> Option<usize> {
    match size {
        1 => Some(stored_rows),
        // BLAS refuses a smaller one; a row that is repeated has the stride 0.
        _ => (stride >= stored_rows).then_some(stride),
    }
}

/// A dimension of a batch: its size, and the distance of its matrices in each tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BatchDimension {
    size: usize,
    left: usize,
    right: usize,
    output: usize,
}

impl BatchDimension {
    /// Whether the matrices of this dimension follow the ones of `inner` in every tensor.
    fn continues(&self, inner: &Self) -> bool {
        self.left == inner.left * inner.size
            && self.right == inner.right * inner.size
            && self.output == inner.output * inner.size
    }
}

/// The batch of a product: one dimension that a call has, and those around it, of which each index
/// is a call.
#[derive(Debug, PartialEq, Eq)]
struct LibraryBatch {
    inner: BatchDimension,
    /// The outermost first.
    outer: Vec<BatchDimension>,
}

impl LibraryBatch {
    /// Joins as many of the last dimensions as have equal distances.
    fn new(product: &Product, output: &Factor) -> Self {
        let mut dimensions = dimensions(product, output);
        // A product without a batch is a batch of one matrix, whose distances are never used.
        let mut inner = dimensions.pop().unwrap_or(BatchDimension {
            size: 1,
            left: 0,
            right: 0,
            output: 0,
        });
        while let Some(next) = dimensions.last() {
            // A call has one distance per tensor: an outer dimension joins only if it continues the
            // inner one in all three.
            if !next.continues(&inner) {
                break;
            }
            inner.size *= next.size;
            dimensions.pop();
        }
        Self {
            inner,
            outer: dimensions,
        }
    }

    /// Where the matrices of the call `index` begin in the left factor, the right one and the
    /// output.
    fn offsets(&self, index: usize) -> [usize; 3] {
        let (mut offsets, mut rest) = ([0; 3], index);
        // The last dimension changes fastest, as in the order of the matrices of a batch.
        for dimension in self.outer.iter().rev() {
            let within = rest % dimension.size;
            let distances = [dimension.left, dimension.right, dimension.output];
            for (offset, distance) in offsets.iter_mut().zip(distances) {
                *offset += within * distance;
            }
            rest /= dimension.size;
        }
        offsets
    }
}

/// The dimensions of the batch, without dimensions of size 1.
fn dimensions(product: &Product, output: &Factor) -> Vec<BatchDimension> {
    let count = product.left.shape.len() - 2;
    let all = (0..count).map(|index| BatchDimension {
        size: product.left.shape[index].max(product.right.shape[index]),
        left: distance(&product.left, index),
        right: distance(&product.right, index),
        output: distance(output, index),
    });
    all.filter(|dimension| dimension.size > 1).collect()
}

/// The distance of the matrices of a dimension.
fn distance(factor: &Factor, index: usize) -> usize {
    match factor.shape[index] {
        // A factor that is repeated has the distance 0.
        1 => 0,
        _ => factor.strides[index],
    }
}

#[cfg(test)]
mod tests;
