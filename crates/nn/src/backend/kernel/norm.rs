//! Layer and root-mean-square normalisation of rows, in place.

use super::{LANES, rows_per_task};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Every row of `x` (plus the same row of `residual`) to mean 0 and variance 1, times `weight`,
/// plus `bias`.
pub(in crate::backend) fn layer_norm(
    x: &mut [f32],
    residual: Option<&[f32]>,
    weight: &[f32],
    bias: &[f32],
    eps: f32,
) {
    let width = weight.len();
    let (arch, task) = (Arch::new(), width * rows_per_task(width));
    let run = |x, residual| {
        arch.dispatch(LayerNormRows {
            x,
            residual,
            weight,
            bias,
            eps,
        })
    };
    match residual {
        None => x.par_chunks_mut(task).for_each(|x| run(x, None)),
        Some(residual) => {
            x.par_chunks_mut(task)
                .zip(residual.par_chunks(task))
                .for_each(|(x, residual)| run(x, Some(residual)));
        }
    }
}

/// Every row of `x` to mean square 1, times `weight`.
pub(in crate::backend) fn rms_norm(x: &mut [f32], weight: &[f32], eps: f32) {
    let width = weight.len();
    let (arch, task) = (Arch::new(), width * rows_per_task(width));
    x.par_chunks_mut(task)
        .for_each(|x| arch.dispatch(RmsNormRows { x, weight, eps }));
}

struct LayerNormRows<'a> {
    x: &'a mut [f32],
    residual: Option<&'a [f32]>,
    weight: &'a [f32],
    bias: &'a [f32],
    eps: f32,
}

impl WithSimd for LayerNormRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        // Without a residual there is nothing to zip with, and nothing is added.
        for (x, residual) in self.x.iter_mut().zip(self.residual.unwrap_or_default()) {
            *x += residual;
        }
        for row in self.x.chunks_exact_mut(width) {
            let mean = sum(row) / width as f32;
            // A separate pass after the mean, while the row is in the cache: the mean of squares
            // less the squared mean loses digits.
            let scale = 1.0 / (sum_of_squares(row, mean) / width as f32 + self.eps).sqrt();
            for ((x, weight), bias) in row.iter_mut().zip(self.weight).zip(self.bias) {
                *x = ((*x - mean) * scale).mul_add(*weight, *bias);
            }
        }
    }
}

struct RmsNormRows<'a> {
    x: &'a mut [f32],
    weight: &'a [f32],
    eps: f32,
}

impl WithSimd for RmsNormRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.weight.len();
        for row in self.x.chunks_exact_mut(width) {
            let scale = 1.0 / (sum_of_squares(row, 0.0) / width as f32 + self.eps).sqrt();
            for (x, weight) in row.iter_mut().zip(self.weight) {
                // Normalised before it is weighed, in the order in which `LlamaRMSNorm` rounds.
                *x = *x * scale * weight;
            }
        }
    }
}

/// The sum of a row, in `LANES` partial sums.
#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for part in row.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += x;
        }
    }
    sums.iter().sum()
}

/// The sum of (x - `mean`)² over a row, in `LANES` partial sums.
#[inline(always)]
fn sum_of_squares(row: &[f32], mean: f32) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for part in row.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += (x - mean) * (x - mean);
        }
    }
    sums.iter().sum()
}
