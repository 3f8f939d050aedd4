//! Activations in place.

use super::{
    PARALLEL,
    exponential::{erf, exp},
};
use crate::backend::Activation;
use pulp::Arch;
use rayon::prelude::*;
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// The kernel of an activation, for those that have one.
pub(in crate::backend) fn activation(activation: Activation) -> Option<fn(&mut [f32])> {
    match activation {
        Activation::Gelu => Some(gelu),
        Activation::GeluNew => Some(gelu_tanh),
        Activation::Silu => Some(silu),
        Activation::QuickGelu => Some(quick_gelu),
        _ => None,
    }
}

fn gelu(x: &mut [f32]) {
    map(x, |x| 0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2)));
}

/// (1 + tanh u) / 2 is sigmoid(2 u).
fn gelu_tanh(x: &mut [f32]) {
    let slope = 2.0 * (2.0 / PI).sqrt();
    map(x, move |x| x / (1.0 + exp(-slope * (0.044_715 * x * x).mul_add(x, x))));
}

fn silu(x: &mut [f32]) {
    map(x, |x| x / (1.0 + exp(-x)));
}

fn quick_gelu(x: &mut [f32]) {
    map(x, |x| x / (1.0 + exp(-1.702 * x)));
}

#[inline(always)]
fn map(x: &mut [f32], function: impl Fn(f32) -> f32 + Copy + Sync) {
    let arch = Arch::new();
    let run = |part: &mut [f32]| arch.dispatch(|| part.iter_mut().for_each(|x| *x = function(*x)));
    if x.len() <= PARALLEL { run(x) } else { x.par_chunks_mut(PARALLEL).for_each(run) }
}
