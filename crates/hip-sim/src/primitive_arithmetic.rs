//! The arithmetic of softmax, activations and reductions of the simulated MIOpen, in f64.

use crate::primitive_fault::PrimitiveFault;

/// A function of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SimulatedFunction {
    /// 1 / (1 + exp(-x)).
    Logistic,
    /// `beta * tanh(alpha * x)`.
    Tanh {
        /// The factor of x.
        alpha: f64,
        /// The factor of the result.
        beta: f64,
    },
    /// max(x, 0).
    Relu,
    /// max(x, 0), at most this number.
    ClippedRelu(f64),
}

/// A reduction of elements to one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedReduction {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The smallest one; NaN if any is NaN.
    Minimum,
    /// The largest one; NaN if any is NaN.
    Maximum,
    /// The largest absolute value; NaN if any is NaN.
    LargestMagnitude,
    /// The mean.
    Mean,
    /// The sum of absolute values.
    Norm1,
    /// The square root of the sum of squares.
    Norm2,
}

impl SimulatedFunction {
    /// The number of x.
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + (-x).exp()),
            Self::Tanh { alpha, beta } => beta * (alpha * x).tanh(),
            Self::Relu => positive(x),
            Self::ClippedRelu(ceiling) => {
                if x >= ceiling {
                    ceiling
                } else {
                    positive(x)
                }
            }
        }
    }
}

fn positive(x: f64) -> f64 {
    // A comparison with NaN is false, and NaN remains.
    if x <= 0.0 { 0.0 } else { x }
}

impl SimulatedReduction {
    /// Every reduction, in the order of `miopenReduceTensorOp_t`.
    pub const ALL: [Self; 8] = [
        Self::Sum,
        Self::Product,
        Self::Minimum,
        Self::Maximum,
        Self::LargestMagnitude,
        Self::Mean,
        Self::Norm1,
        Self::Norm2,
    ];

    /// Whether it adds numbers, so that blocks of them are added first.
    pub(crate) fn adds(self) -> bool {
        matches!(self, Self::Sum | Self::Mean | Self::Norm1 | Self::Norm2)
    }

    /// The number of `numbers`, of which a mean counts `count`.
    pub(crate) fn apply(self, numbers: &[f64], count: usize) -> f64 {
        let magnitudes = || numbers.iter().map(|number| number.abs());
        match self {
            Self::Sum => numbers.iter().sum(),
            Self::Product => numbers.iter().product(),
            Self::Mean => numbers.iter().sum::<f64>() / count as f64,
            Self::Maximum => extreme(numbers.iter().copied(), f64::NEG_INFINITY, f64::max),
            Self::Minimum => extreme(numbers.iter().copied(), f64::INFINITY, f64::min),
            Self::LargestMagnitude => extreme(magnitudes(), 0.0, f64::max),
            Self::Norm1 => magnitudes().sum(),
            Self::Norm2 => magnitudes()
                .map(|number| number * number)
                .sum::<f64>()
                .sqrt(),
        }
    }

    /// As [`Self::apply`], with injected faults.
    pub(crate) fn apply_with(
        self,
        numbers: &[f64],
        count: usize,
        has: &impl Fn(PrimitiveFault) -> bool,
    ) -> f64 {
        let signed = has(PrimitiveFault::Magnitude);
        match self {
            Self::LargestMagnitude if signed => Self::Maximum.apply(numbers, count),
            Self::Norm1 if signed => Self::Sum.apply(numbers, count),
            Self::Norm2 if has(PrimitiveFault::Root) => self.apply(numbers, count).powi(2),
            Self::Product if has(PrimitiveFault::Start) => 0.0,
            _ => self.apply(numbers, count),
        }
    }
}

/// The largest or the smallest number.
fn extreme(numbers: impl Iterator<Item = f64>, start: f64, select: fn(f64, f64) -> f64) -> f64 {
    // `f64::max` and `f64::min` ignore NaN, which devices keep.
    let keeping_nan = |extreme: f64, number: f64| {
        if extreme.is_nan() || number.is_nan() {
            f64::NAN
        } else {
            select(extreme, number)
        }
    };
    numbers.fold(start, keeping_nan)
}

/// The softmax of a line.
pub(crate) fn softmax_line(scores: &[f64], shifts: bool, logarithm: bool) -> Vec<f64> {
    let largest = if shifts {
        scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    } else {
        0.0
    };
    let exponential = |score: &f64| {
        let power = (score - largest).exp();
        // Exponentials are f32, as on a device, where they overflow unless the maximum is
        // subtracted.
        if power > f64::from(f32::MAX) {
            f64::INFINITY
        } else {
            power
        }
    };
    let sum: f64 = scores.iter().map(exponential).sum();
    let result = |score: &f64| {
        if logarithm {
            score - largest - sum.ln()
        } else {
            exponential(score) / sum
        }
    };
    scores.iter().map(result).collect()
}
