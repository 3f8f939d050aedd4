//! x Wᵀ with the weight as checkpoints have it, [out, in]: rows of both are contiguous, so nothing
//! is packed.
//!
//! A library's product packs such a weight anew each time, which for few rows of x costs more than
//! the product.

use super::PARALLEL;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows of x from which packing the weight pays, however it is shaped.
const MANY_ROWS: usize = 256;
/// Rows of x from which packing a weight with more columns than inner elements pays.
const SOME_ROWS: usize = 32;
/// Multiplications below which a library's product is faster, unless there is a single row.
const FEW_PRODUCTS: usize = 1 << 20;

/// Whether [`transposed`] is faster than packing, by measurement at the shapes of BERT and GPT-2.
pub(super) fn pays([rows, inner, columns]: [usize; 3]) -> bool {
    match rows {
        1 => true,
        _ if rows * inner * columns < FEW_PRODUCTS => false,
        2..=SOME_ROWS => true,
        _ => rows <= MANY_ROWS && columns <= inner,
    }
}

/// Adds `x` [rows, inner] times the transpose of `weight` [columns, inner], whose rows are `stride`
/// apart, to `out` [rows, columns].
pub(super) fn transposed(
    x: &[f32],
    [rows, inner, columns]: [usize; 3],
    weight: &[f32],
    stride: usize,
    out: &mut [f32],
) {
    let arch = Arch::new();
    // By columns, so that a band of columns owns a contiguous part, which a thread can write
    // without a lock.
    let mut sums = vec![0.0; columns * rows];
    let band = |(index, sums): (usize, &mut [f32])| {
        arch.dispatch(Band {
            x,
            rows,
            inner,
            weight: &weight[index * BAND * stride..],
            stride,
            sums,
        });
    };
    if rows * inner * columns < PARALLEL * 8 {
        sums.chunks_mut(BAND * rows).enumerate().for_each(band);
    } else {
        sums.par_chunks_mut(BAND * rows).enumerate().for_each(band);
    }
    for (row, out) in out.chunks_mut(columns).enumerate() {
        for (out, sum) in out.iter_mut().zip(sums[row..].iter().step_by(rows)) {
            // The caller has put the bias, or zeros, there.
            *out += sum;
        }
    }
}

/// Columns that one task takes.
const BAND: usize = 64;
/// Rows and columns whose sums are in registers at a time.
// AVX2 has half as many registers as AVX-512.
const TILE: usize = 4;
const SMALL_TILE: usize = 2;
/// Inner elements of a block.
// A tile's rows of both operands stay in the first-level cache.
const DEPTH: usize = 1024;

/// `sums` [columns of the band, rows], for the first rows of `weight`.
struct Band<'a> {
    x: &'a [f32],
    rows: usize,
    inner: usize,
    weight: &'a [f32],
    stride: usize,
    sums: &'a mut [f32],
}

impl WithSimd for Band<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for start in (0..self.inner).step_by(DEPTH) {
            let depth = start..(start + DEPTH).min(self.inner);
            if S::REGISTER_COUNT < 32 {
                self.block::<S, SMALL_TILE>(simd, depth);
            } else {
                self.block::<S, TILE>(simd, depth);
            }
        }
    }
}

impl Band<'_> {
    /// Every tile of the inner elements `depth`; what is left of the rows goes one by one.
    #[inline(always)]
    fn block<S: Simd, const R: usize>(&mut self, simd: S, depth: std::ops::Range<usize>) {
        let columns = self.sums.len() / self.rows;
        for column in (0..columns - columns % TILE).step_by(TILE) {
            for row in (0..self.rows - self.rows % R).step_by(R) {
                self.tile::<S, R, TILE>(simd, row, column, &depth);
            }
            for row in self.rows - self.rows % R..self.rows {
                self.tile::<S, 1, TILE>(simd, row, column, &depth);
            }
        }
        for column in columns - columns % TILE..columns {
            for row in 0..self.rows {
                self.tile::<S, 1, 1>(simd, row, column, &depth);
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const R: usize, const C: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
        depth: &std::ops::Range<usize>,
    ) {
        let rows = std::array::from_fn(|i| &self.x[(row + i) * self.inner..][depth.clone()]);
        let columns =
            std::array::from_fn(|j| &self.weight[(column + j) * self.stride..][depth.clone()]);
        for (i, products) in products::<S, R, C>(simd, rows, columns).iter().enumerate() {
            for (j, product) in products.iter().enumerate() {
                self.sums[(column + j) * self.rows + row + i] += product;
            }
        }
    }
}

/// The scalar product of each of `rows` with each of `columns`, all of one length.
#[inline(always)]
fn products<S: Simd, const R: usize, const C: usize>(
    simd: S,
    rows: [&[f32]; R],
    columns: [&[f32]; C],
) -> [[f32; C]; R] {
    let length = rows[0].len() / S::F32_LANES;
    let row_vectors: [&[S::f32s]; R] =
        std::array::from_fn(|i| &S::as_simd_f32s(rows[i]).0[..length]);
    let column_vectors: [&[S::f32s]; C] =
        std::array::from_fn(|j| &S::as_simd_f32s(columns[j]).0[..length]);
    let mut sums = [[simd.splat_f32s(0.0); C]; R];
    for k in 0..length {
        for (sums, row) in sums.iter_mut().zip(row_vectors) {
            for (sum, column) in sums.iter_mut().zip(column_vectors) {
                *sum = simd.mul_add_f32s(row[k], column[k], *sum);
            }
        }
    }
    let mut products = [[0.0; C]; R];
    for (i, products) in products.iter_mut().enumerate() {
        for (j, product) in products.iter_mut().enumerate() {
            *product = simd.reduce_sum_f32s(sums[i][j]);
            for k in length * S::F32_LANES..rows[i].len() {
                *product = rows[i][k].mul_add(columns[j][k], *product);
            }
        }
    }
    products
}
