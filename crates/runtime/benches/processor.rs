//! Limits of this processor: f32 multiplications and additions in registers, and bytes read from
//! memory, on all cores.
//!
//! No forward is faster than its products at the first rate, and no decoded token than its weights
//! at the second:
//!
//!     cargo bench --workspace --bench processor

use pulp::{Arch, Simd, WithSimd};
use std::{
    hint::black_box,
    thread::{available_parallelism, scope},
    time::Instant,
};

const ROUNDS: usize = 5;
const STEPS: usize = 50_000_000;
const FLOATS: usize = 1 << 28;

fn main() {
    let threads = available_parallelism().map_or(1, usize::from);
    let floats = vec![1.0_f32; FLOATS];
    let part = FLOATS.div_ceil(threads);
    let arithmetic = best(|| {
        let lanes: Vec<usize> = scope(|scope| {
            let work = || scope.spawn(|| Arch::new().dispatch(Arithmetic));
            let running: Vec<_> = (0..threads).map(|_| work()).collect();
            running
                .into_iter()
                .map(|thread| thread.join().expect("arithmetic does not panic"))
                .collect()
        });
        lanes.iter().sum::<usize>() * SUMS * STEPS * 2
    });
    let reading = best(|| {
        scope(|scope| {
            for part in floats.chunks(part) {
                scope.spawn(|| black_box(Arch::new().dispatch(Reading(part))));
            }
        });
        FLOATS * size_of::<f32>()
    });
    println!(
        "{threads} threads: {arithmetic:.0} GFLOP/s in f32, {reading:.1} GB/s read from memory (best of {ROUNDS})"
    );
}

/// The best rate of `work`, which returns its number of operations or bytes, in 10⁹ per second.
fn best(work: impl Fn() -> usize) -> f64 {
    let rate = || {
        let started = Instant::now();
        work() as f64 / started.elapsed().as_secs_f64() / 1e9
    };
    (0..ROUNDS).map(|_| rate()).fold(0.0, f64::max)
}

/// Sums that are independent of each other, so that every unit is busy.
const SUMS: usize = 16;

/// Fused multiplications and additions on registers alone; returns the lanes of a register.
struct Arithmetic;

impl WithSimd for Arithmetic {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let mut sums = [simd.splat_f32s(1.0); SUMS];
        let (factor, term) = (
            simd.splat_f32s(black_box(0.999)),
            simd.splat_f32s(black_box(0.001)),
        );
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = simd.mul_add_f32s(*sum, factor, term);
            }
        }
        for sum in sums {
            black_box(simd.reduce_sum_f32s(sum));
        }
        S::F32_LANES
    }
}

/// The sum of a slice that is larger than the caches.
struct Reading<'a>(&'a [f32]);

impl WithSimd for Reading<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let mut sums = [simd.splat_f32s(0.0); SUMS];
        for part in S::as_simd_f32s(self.0).0.chunks_exact(SUMS) {
            for (sum, part) in sums.iter_mut().zip(part) {
                *sum = simd.add_f32s(*sum, *part);
            }
        }
        sums.iter().map(|sum| simd.reduce_sum_f32s(*sum)).sum()
    }
}
