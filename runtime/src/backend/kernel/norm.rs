//! Layer and root-mean-square normalisation of rows, in place.

use super::{LANES, rows_per_task};
use pulp::Arch;
use rayon::prelude::*;

/// Every row of `x` (plus the same row of `residual`) to mean 0 and variance 1, times `weight`, plus `bias`.
pub(in crate::backend) fn layer_norm(x: &mut [f32], residual: Option<&[f32]>, weight: &[f32], bias: &[f32], eps: f32) {
    let width = weight.len();
    let (arch, task) = (Arch::new(), width * rows_per_task(width));
    match residual {
        None => x.par_chunks_mut(task).for_each(|x| arch.dispatch(|| layer_norm_rows(x, weight, bias, eps))),
        Some(residual) => x.par_chunks_mut(task).zip(residual.par_chunks(task)).for_each(|(x, residual)| {
            arch.dispatch(|| {
                x.iter_mut().zip(residual).for_each(|(x, residual)| *x += residual);
                layer_norm_rows(x, weight, bias, eps);
            });
        }),
    }
}

/// Every row of `x` to mean square 1, times `weight`.
pub(in crate::backend) fn rms_norm(x: &mut [f32], weight: &[f32], eps: f32) {
    let width = weight.len();
    let (arch, task) = (Arch::new(), width * rows_per_task(width));
    x.par_chunks_mut(task).for_each(|x| arch.dispatch(|| rms_norm_rows(x, weight, eps)));
}

#[inline(always)]
fn layer_norm_rows(x: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    let width = weight.len();
    for row in x.chunks_exact_mut(width) {
        let mean = sum(row, |x| x) / width as f32;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / width as f32;
        let scale = 1.0 / (variance + eps).sqrt();
        for ((x, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
            *x = ((*x - mean) * scale).mul_add(*weight, *bias);
        }
    }
}

#[inline(always)]
fn rms_norm_rows(x: &mut [f32], weight: &[f32], eps: f32) {
    let width = weight.len();
    for row in x.chunks_exact_mut(width) {
        let scale = 1.0 / (sum(row, |x| x * x) / width as f32 + eps).sqrt();
        for (x, weight) in row.iter_mut().zip(weight) {
            *x = *x * scale * weight;
        }
    }
}

/// The sum of `term` over a row, in `LANES` partial sums.
#[inline(always)]
fn sum(row: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for part in row.chunks(LANES) {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += term(*x);
        }
    }
    sums.iter().sum()
}
