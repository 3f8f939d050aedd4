//! Activations in place.

use super::{
    PARALLEL,
    exponential::{erf, exp},
};
use crate::backend::Activation;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::{f32::consts::FRAC_1_SQRT_2, marker::PhantomData};

/// The kernel of an activation, or `None` if it has no kernel.
pub(in crate::backend) fn activation(activation: Activation) -> Option<fn(&mut [f32])> {
    match activation {
        Activation::Gelu | Activation::GeluPython => Some(map::<Gelu>),
        Activation::GeluNew => Some(map::<GeluTanh>),
        Activation::Relu => Some(map::<Relu>),
        Activation::Silu => Some(map::<Silu>),
        Activation::QuickGelu => Some(map::<QuickGelu>),
        // The others are rare, and burn's operators compute them.
        _ => None,
    }
}

/// A function of one number.
trait Elementwise: Send {
    fn apply(x: f32) -> f32;
}

struct Gelu;
struct GeluTanh;
struct Relu;
struct Silu;
struct QuickGelu;

impl Elementwise for Gelu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        0.5 * x * (1.0 + erf(x * FRAC_1_SQRT_2))
    }
}

impl Elementwise for GeluTanh {
    /// (1 + tanh u) / 2 is sigmoid(2 u).
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        const SLOPE: f32 = 1.595_769; // 2 sqrt(2 / pi)
        x / (1.0 + exp(-SLOPE * (0.044_715 * x * x).mul_add(x, x)))
    }
}

impl Elementwise for Relu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        // Not `max`, which returns 0 for NaN.
        if x < 0.0 { 0.0 } else { x }
    }
}

impl Elementwise for Silu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        x / (1.0 + exp(-x))
    }
}

impl Elementwise for QuickGelu {
    #[inline(always)]
    fn apply(x: f32) -> f32 {
        x / (1.0 + exp(-1.702 * x))
    }
}

fn map<F: Elementwise>(x: &mut [f32]) {
    let arch = Arch::new();
    let run = |part: &mut [f32]| {
        arch.dispatch(ElementwiseMap::<F> {
            part,
            function: PhantomData,
        })
    };
    if x.len() <= PARALLEL {
        run(x)
    } else {
        x.par_chunks_mut(PARALLEL).for_each(run)
    }
}

struct ElementwiseMap<'a, F> {
    part: &'a mut [f32],
    function: PhantomData<F>,
}

impl<F: Elementwise> WithSimd for ElementwiseMap<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.part {
            *x = F::apply(*x);
        }
    }
}
