//! A device in plain Rust that computes every case, correctly or with one fault.

use crate::probe::cases::{self, FloatFormat, INNER, ProbeProduct};
use crate::probe::fingerprint;
use crate::probe::measure::{Measurement, Tf32Measurement};
use half::{bf16, f16};
use testgen_types::Precision;

pub(super) const SIDE: usize = 4;

pub(super) type Round = fn(Precision, f64) -> f64;

pub(super) fn nearest_even(precision: Precision, value: f64) -> f64 {
    match precision {
        Precision::F32 | Precision::Tf32 => f64::from(value as f32),
        Precision::F16 => f16::from_f64(value).to_f64(),
        Precision::Bf16 => bf16::from_f64(value).to_f64(),
    }
}

pub(super) fn toward_zero(precision: Precision, value: f64) -> f64 {
    let rounded = nearest_even(precision, value);
    if rounded.is_finite() && rounded.abs() > value.abs() {
        rounded - value.signum() * FloatFormat::for_precision(precision).epsilon
    } else {
        rounded
    }
}

pub(super) fn saturating(precision: Precision, value: f64) -> f64 {
    let largest = FloatFormat::for_precision(precision).largest;
    nearest_even(precision, value).clamp(-largest, largest)
}

pub(super) fn flushing(precision: Precision, value: f64) -> f64 {
    let rounded = nearest_even(precision, value);
    if rounded.abs() < FloatFormat::for_precision(precision).smallest_normal {
        0.0
    } else {
        rounded
    }
}

pub(super) fn exact_f32(_: Precision, value: f64) -> f64 {
    f64::from(value as f32)
}

/// The answers of a device that rounds results by `round` and sums by `sum`.
pub(super) fn device(precision: Precision, round: Round, sum: Round) -> Measurement {
    let format = FloatFormat::for_precision(precision);
    let elementwise = cases::elementwise(format);
    let multiply = |product: ProbeProduct| {
        (0..SIDE * SIDE)
            .map(|index| {
                let (row, column) = (index / SIDE, index % SIDE);
                let terms = (0..INNER).map(|inner| {
                    product.left[row * INNER + inner] * product.right[inner * SIDE + column]
                });
                round(
                    precision,
                    terms.fold(0.0, |total, term| sum(precision, total + term)),
                )
            })
            .collect::<Vec<f64>>()
    };
    Measurement {
        stored: Ok(elementwise.sums.iter().map(|(left, _)| *left).collect()),
        sums: Ok(elementwise
            .sums
            .iter()
            .map(|(left, right)| round(precision, left + right))
            .collect()),
        products: Ok(elementwise
            .products
            .iter()
            .map(|(left, right)| round(precision, left * right))
            .collect()),
        casts: Ok(elementwise
            .casts
            .iter()
            .map(|value| round(precision, *value))
            .collect()),
        cancelling: Ok(multiply(cases::cancelling_product(SIDE))),
        random: Ok(multiply(cases::random_product(format, SIDE))),
        fingerprint: Ok(multiply(fingerprint::product(format, SIDE))),
        side: SIDE,
        claimed: false,
    }
}

pub(super) fn correct(precision: Precision) -> Measurement {
    device(precision, nearest_even, exact_f32)
}

/// A device with TF32: exact products of values that TF32 has.
pub(super) fn tf32() -> Tf32Measurement {
    let exact = |product: ProbeProduct| {
        Ok(product
            .exact()
            .into_iter()
            .map(|value| f64::from(value as f32))
            .collect())
    };
    let random = cases::random_product(FloatFormat::for_precision(Precision::Tf32), SIDE);
    Tf32Measurement {
        products: [exact(cases::cancelling_product(SIDE)), exact(random)],
        fingerprint: Err("not asked".to_owned()),
        side: SIDE,
        tf32_loses: Ok(true),
        f32_loses: Ok(false),
        f32_is_tf32: false,
    }
}
