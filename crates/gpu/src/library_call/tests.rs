//! Every call, computed here as a library defines it, against the product of the tensors.

use super::{LibraryCall, calls};
use crate::products::{Factor, Product};
use testgen_libraries::Operand;
use testgen_types::Precision;

/// The value of an element of a factor: small integers, so that sums are exact.
fn value(offset: usize, seed: usize) -> i64 {
    ((offset * 7 + seed * 3) % 11) as i64 - 5
}

/// The product by the positions of the elements.
fn expected(product: &Product) -> Vec<i64> {
    let [rows, inner, columns] = product.sizes();
    let offsets =
        [&product.left, &product.right].map(|factor| factor.offsets().collect::<Vec<_>>());
    let mut results = Vec::new();
    for (left, right) in product.batches() {
        for row in 0..rows {
            for column in 0..columns {
                let term = |index: usize| {
                    value(offsets[0][(left * rows + row) * inner + index], 1)
                        * value(offsets[1][(right * inner + index) * columns + column], 2)
                };
                results.push((0..inner).map(term).sum());
            }
        }
    }
    results
}

/// The same by the calls, read from the places of `output`.
fn computed(output: &Factor, calls: &[LibraryCall]) -> Vec<i64> {
    let mut results = vec![i64::MIN; output.extent()];
    for call in calls {
        let gemm = &call.gemm;
        let [a, b, d] = [Operand::A, Operand::B, Operand::D].map(|operand| gemm.stored(operand));
        let place = |transposed, row, column| match transposed {
            true => (column, row),
            false => (row, column),
        };
        for matrix in 0..gemm.batch {
            for row in 0..gemm.rows {
                for column in 0..gemm.columns {
                    let term = |index: usize| {
                        let (a_row, a_column) = place(gemm.transposed[0], row, index);
                        let (b_row, b_column) = place(gemm.transposed[1], index, column);
                        value(call.right + a.index(matrix, a_row, a_column), 2)
                            * value(call.left + b.index(matrix, b_row, b_column), 1)
                    };
                    results[call.output + d.index(matrix, row, column)] =
                        (0..gemm.inner).map(term).sum();
                }
            }
        }
    }
    output.offsets().map(|offset| results[offset]).collect()
}

/// A new tensor for the result: contiguous, or with rows of a multiple of 8 elements.
fn outputs(product: &Product) -> [Factor; 2] {
    let shape = product.output_shape();
    let mut padded = shape.clone();
    let last = padded.len() - 1;
    padded[last] = padded[last].next_multiple_of(8);
    let strides = Factor::contiguous(padded).strides;
    [Factor::contiguous(shape.clone()), Factor { shape, strides }]
}

fn factor(shape: &[usize], strides: &[usize]) -> Factor {
    Factor {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    }
}

fn product(left: Factor, right: Factor) -> Product {
    Product {
        left,
        right,
        precision: Precision::F32,
    }
}

#[test]
fn calls_compute_the_product_of_every_layout() {
    let contiguous = |shape: &[usize]| Factor::contiguous(shape.to_vec());
    for (product, count) in [
        (product(contiguous(&[3, 4]), contiguous(&[4, 5])), 1),
        // Both factors transposed.
        (
            product(factor(&[3, 4], &[1, 3]), factor(&[4, 5], &[1, 4])),
            1,
        ),
        // Rows that are parts of longer ones.
        (
            product(factor(&[3, 4], &[9, 1]), factor(&[4, 5], &[8, 1])),
            1,
        ),
        // A row, a column, and one number.
        (product(contiguous(&[1, 4]), factor(&[4, 5], &[1, 4])), 1),
        (product(factor(&[3, 1], &[1, 7]), contiguous(&[1, 5])), 1),
        (product(contiguous(&[3, 4]), factor(&[4, 1], &[1, 1])), 1),
        // A batch with one weight is one larger product.
        (product(contiguous(&[2, 3, 4]), contiguous(&[1, 4, 5])), 1),
        // A batch of products.
        (
            product(contiguous(&[2, 3, 3, 4]), contiguous(&[2, 3, 4, 5])),
            1,
        ),
        // Attention: heads are beside each other in a row.
        (
            product(
                factor(&[2, 3, 5, 4], &[60, 4, 12, 1]),
                factor(&[2, 3, 4, 5], &[60, 4, 1, 12]),
            ),
            2,
        ),
        // Keys and values that several heads share.
        (
            product(contiguous(&[2, 3, 5, 4]), contiguous(&[2, 1, 4, 6])),
            2,
        ),
        // The left factor repeated.
        (product(contiguous(&[1, 3, 4]), contiguous(&[2, 4, 5])), 1),
    ] {
        for output in outputs(&product) {
            let calls = calls(&product, &output, 8).expect("no factor has to be copied");
            assert_eq!(calls.len(), count, "{product:?}");
            assert_eq!(computed(&output, &calls), expected(&product), "{product:?}");
        }
    }
}

#[test]
fn a_factor_without_adjacent_elements_has_to_be_copied() {
    let right = || Factor::contiguous(vec![4, 5]);
    let strided = product(factor(&[3, 4], &[8, 2]), right());
    assert_eq!(calls(&strided, &outputs(&strided)[0], 8), None);
    // Columns that are one: the library needs a distance of at least a row.
    let repeated = product(factor(&[3, 4], &[0, 1]), right());
    assert_eq!(calls(&repeated, &outputs(&repeated)[0], 8), None);
}

#[test]
fn many_calls_are_refused() {
    let attention = product(
        factor(&[9, 3, 5, 4], &[60, 4, 12, 1]),
        factor(&[9, 3, 4, 5], &[60, 4, 1, 12]),
    );
    let [output, _] = outputs(&attention);
    assert_eq!(calls(&attention, &output, 8), None);
    let calls = calls(&attention, &output, 9);
    assert_eq!(calls.map(|calls| calls.len()), Some(9));
}

#[test]
fn a_batch_with_one_weight_is_one_product_of_all_rows() {
    let product = product(
        Factor::contiguous(vec![2, 3, 4]),
        Factor::contiguous(vec![1, 4, 5]),
    );
    let calls = calls(&product, &outputs(&product)[0], 8).expect("no factor has to be copied");
    assert_eq!((calls[0].gemm.batch, calls[0].gemm.columns), (1, 6));
}
