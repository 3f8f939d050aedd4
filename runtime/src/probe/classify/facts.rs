//! How a device computes, read from its answers. None of these is a fault by itself but a rounding other than IEEE's.

use super::super::cases::{Format, INNER, ROUNDINGS, cancelling_product};
use serde::Serialize;
use std::fmt;

/// What sums inside a matrix product are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accumulator {
    /// f32, or wider.
    F32,
    /// The 16-bit type itself, at least in part of the sum.
    SixteenBits,
}

/// What becomes of numbers below the smallest with a full mantissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Denormals {
    /// They are computed with.
    Kept,
    /// They become zero.
    Flushed,
    /// They are flushed as an operand and kept as a result, or the other way round.
    Mixed,
}

/// How a result between two numbers is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the nearest, ties to even: IEEE's.
    NearestEven,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Cut off.
    TowardZero,
    /// None of these.
    Other,
}

/// Reads the matrix of [`cancelling_product`]; `None` when it is not between what the two widths give.
pub(super) fn accumulator(answers: &[f64]) -> Option<Accumulator> {
    let exact = cancelling_product(1).exact()[0];
    if answers.iter().all(|answer| *answer == exact) {
        return Some(Accumulator::F32);
    }
    // Any order of a 16-bit sum loses small terms, or gains half a step of the large one for some of them.
    let step_of_large = 256.0;
    let plausible = |answer: &f64| (-step_of_large..=INNER as f64).contains(answer);
    answers.iter().all(plausible).then_some(Accumulator::SixteenBits)
}

/// Reads the third and the fourth of the products; `None` when they are neither kept nor zero, which is a fault.
pub(super) fn denormals(format: Format, answers: &[f64]) -> Option<Denormals> {
    let smallest = format.smallest();
    match answers.get(2..4)? {
        [result, operand] if *result == smallest && *operand == smallest => Some(Denormals::Kept),
        [result, operand] if *result == 0.0 && *operand == 0.0 => Some(Denormals::Flushed),
        [result, operand] if [result, operand].iter().all(|value| **value == 0.0 || **value == smallest) => {
            Some(Denormals::Mixed)
        }
        _ => None,
    }
}

/// Reads the first three sums or casts: 1 + 1/2, 1 + 1 1/2 and 1 + 3/4 steps.
pub(super) fn rounding(format: Format, answers: &[f64]) -> Rounding {
    let steps = answers.iter().take(ROUNDINGS).map(|answer| (answer - 1.0) / format.epsilon);
    match steps.collect::<Vec<f64>>().as_slice() {
        [0.0, 2.0, 1.0] => Rounding::NearestEven,
        [1.0, 2.0, 1.0] => Rounding::NearestAway,
        [0.0, 1.0, 0.0] => Rounding::TowardZero,
        _ => Rounding::Other,
    }
}

impl fmt::Display for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::SixteenBits => "16 bits",
        })
    }
}

impl fmt::Display for Denormals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kept => "kept",
            Self::Flushed => "flushed",
            Self::Mixed => "kept or flushed, depending on the place",
        })
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NearestEven => "to nearest even",
            Self::NearestAway => "ties away from zero",
            Self::TowardZero => "toward zero",
            Self::Other => "irregularly",
        })
    }
}
