//! Facts about a device's arithmetic, derived from its answers. Of these, only a rounding other
//! than IEEE's is a fault.

use super::super::cases::{FloatFormat, INNER, ROUNDINGS, cancelling_product};
use serde::Serialize;
use std::fmt;

/// The type of the accumulator of a matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Accumulator {
    /// f32, or wider.
    F32,
    /// The 16-bit type itself, at least in part of the sum.
    SixteenBits,
}

/// The treatment of subnormal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Denormals {
    /// Supported.
    Kept,
    /// Replaced by zero.
    Flushed,
    /// Flushed as an operand and kept as a result, or the other way round.
    Mixed,
}

/// The rounding of a result between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// To the nearest, ties to even: IEEE's.
    NearestEven,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Truncation.
    TowardZero,
    /// None of these.
    Other,
}

/// Evaluates the matrix of [`cancelling_product`]; `None` when neither width can have computed it.
pub(super) fn accumulator(answers: &[f64]) -> Option<Accumulator> {
    // The rows of the factors are equal, so that all elements of any side are this one.
    let exact = cancelling_product(1).exact()[0];
    if answers.iter().all(|answer| *answer == exact) {
        return Some(Accumulator::F32);
    }
    // Any order of a 16-bit sum loses small terms, or gains half a step of the large one for some
    // of them.
    let step_of_large = 256.0;
    // All of them: one answer outside of the range is neither width.
    answers
        .iter()
        .all(|answer| (-step_of_large..=INNER as f64).contains(answer))
        .then_some(Accumulator::SixteenBits)
}

/// Evaluates the third and the fourth product; `None` when they are neither kept nor zero, which is
/// a fault.
pub(super) fn denormals(format: FloatFormat, answers: &[f64]) -> Option<Denormals> {
    let smallest = format.smallest();
    match answers.get(2..4)? {
        [result, operand] if *result == smallest && *operand == smallest => Some(Denormals::Kept),
        [result, operand] if *result == 0.0 && *operand == 0.0 => Some(Denormals::Flushed),
        [result, operand]
            if [result, operand]
                .iter()
                .all(|value| **value == 0.0 || **value == smallest) =>
        {
            Some(Denormals::Mixed)
        }
        _ => None,
    }
}

/// Evaluates the first three sums or casts, which are 1 plus 1/2, 1 1/2 and 3/4 steps.
pub(super) fn rounding(format: FloatFormat, answers: &[f64]) -> Rounding {
    let steps = answers
        .iter()
        .take(ROUNDINGS)
        .map(|answer| (answer - 1.0) / format.epsilon);
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
            Self::Mixed => "kept or flushed, depending on the position",
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
