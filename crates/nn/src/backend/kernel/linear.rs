//! x W + b.

use super::{PARALLEL, transposed};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// A matrix [in, out] with any strides, in elements.
pub(in crate::backend) struct StridedMatrix<'a> {
    pub(in crate::backend) elements: &'a [f32],
    pub(in crate::backend) row_stride: isize,
    pub(in crate::backend) column_stride: isize,
}

/// Multiplications below which one thread is faster.
const PARALLEL_PRODUCTS: usize = 1 << 22;

/// `x` [rows, inner] times `weight` [inner, columns], plus `bias` [columns].
pub(in crate::backend) fn linear(
    x: &[f32],
    [rows, inner, columns]: [usize; 3],
    weight: &StridedMatrix<'_>,
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let mut out = match bias {
        // Products are added to the bias, which saves a pass over the result.
        Some(bias) => bias.repeat(rows),
        None => vec![0.0; rows * columns],
    };
    let shape = [rows, inner, columns];
    match (weight.row_stride, weight.column_stride) {
        (stride, 1) if stride > 0 && rows == 1 => {
            row_by_rows(x, weight.elements, stride as usize, &mut out)
        }
        (1, stride) if stride > 0 && transposed::pays(shape) => {
            transposed::transposed(x, shape, weight.elements, stride as usize, &mut out);
        }
        _ => product(x, shape, weight, bias.is_some(), &mut out),
    }
    out
}

/// One row times a matrix whose rows are contiguous: every thread streams its own band of columns.
fn row_by_rows(x: &[f32], weight: &[f32], stride: usize, out: &mut [f32]) {
    let arch = Arch::new();
    let band = |(index, out): (usize, &mut [f32])| {
        arch.dispatch(RowBand {
            x,
            weight,
            stride,
            first: index * BAND,
            out,
        });
    };
    if x.len() * out.len() < PARALLEL * 8 {
        out.chunks_mut(BAND).enumerate().for_each(band);
    } else {
        out.par_chunks_mut(BAND).enumerate().for_each(band);
    }
}

/// Columns that one task takes.
// Their sums stay in the first-level cache.
const BAND: usize = 512;

/// The columns of `out`, the first of them `first`, of a matrix whose rows are contiguous.
struct RowBand<'a> {
    x: &'a [f32],
    weight: &'a [f32],
    stride: usize,
    first: usize,
    out: &'a mut [f32],
}

impl WithSimd for RowBand<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (row, &x) in self.x.iter().enumerate() {
            let start = row * self.stride + self.first;
            for (out, weight) in self.out.iter_mut().zip(&self.weight[start..]) {
                *out = x.mul_add(*weight, *out);
            }
        }
    }
}

fn product(
    x: &[f32],
    [rows, inner, columns]: [usize; 3],
    weight: &StridedMatrix<'_>,
    add: bool,
    out: &mut [f32],
) {
    assert!(
        x.len() == rows * inner && out.len() == rows * columns,
        "the slices fill their shapes"
    );
    let last =
        (inner as isize - 1) * weight.row_stride + (columns as isize - 1) * weight.column_stride;
    assert!(
        weight.row_stride >= 0
            && weight.column_stride >= 0
            && (last as usize) < weight.elements.len()
    );
    let parallelism = match rows * inner * columns {
        products if products > PARALLEL_PRODUCTS => gemm::Parallelism::Rayon(0),
        _ => gemm::Parallelism::None,
    };
    // SAFETY: the asserts above keep every row and column index inside the three slices, and `out`
    // is borrowed mutably.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            // `gemm` takes the stride of columns before the stride of rows.
            out.as_mut_ptr(),
            1,
            columns as isize,
            add,
            x.as_ptr(),
            1,
            inner as isize,
            weight.elements.as_ptr(),
            weight.column_stride,
            weight.row_stride,
            1.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{StridedMatrix, linear};

    /// Small integers: every order of summation leads to the same f32.
    fn integers(count: usize, step: usize) -> Vec<f32> {
        (0..count)
            .map(|index| ((index * step) % 7) as f32 - 3.0)
            .collect()
    }

    #[test]
    fn every_path_equals_the_definition() {
        for [rows, inner, columns] in [
            [1, 5, 3],
            [1, 70, 1100],
            [3, 9, 4],
            [2, 130, 65],
            [7, 1100, 150],
            [37, 300, 101],
        ] {
            let (x, weight, bias) = (
                integers(rows * inner, 3),
                integers(inner * columns, 5),
                integers(columns, 2),
            );
            for (row_stride, column_stride) in [(columns, 1), (1, inner)] {
                let at =
                    |row: usize, column: usize| weight[row * row_stride + column * column_stride];
                let matrix = StridedMatrix {
                    elements: &weight,
                    row_stride: row_stride as isize,
                    column_stride: column_stride as isize,
                };
                for bias in [None, Some(bias.as_slice())] {
                    let out = linear(&x, [rows, inner, columns], &matrix, bias);
                    for (index, out) in out.iter().enumerate() {
                        let (row, column) = (index / columns, index % columns);
                        let sum: f32 = (0..inner).map(|k| x[row * inner + k] * at(k, column)).sum();
                        let expected = sum + bias.map_or(0.0, |bias| bias[column]);
                        assert_eq!(
                            *out, expected,
                            "[{row}, {column}] of {rows} x {inner} x {columns}"
                        );
                    }
                }
            }
        }
    }
}
