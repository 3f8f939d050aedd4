//! The arithmetic of softmax, activations and reductions of the simulated MIOpen, in f64.

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
    /// The mean.
    Mean,
    /// The largest one; NaN if any is NaN.
    Maximum,
    /// The smallest one; NaN if any is NaN.
    Minimum,
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
    /// The number of `numbers`, of which a mean counts `count`.
    pub(crate) fn apply(self, numbers: &[f64], count: usize) -> f64 {
        match self {
            Self::Sum => numbers.iter().sum(),
            Self::Mean => numbers.iter().sum::<f64>() / count as f64,
            Self::Maximum => extreme(numbers, f64::NEG_INFINITY, f64::max),
            Self::Minimum => extreme(numbers, f64::INFINITY, f64::min),
        }
    }
}

/// The largest or the smallest number.
fn extreme(numbers: &[f64], start: f64, select: fn(f64, f64) -> f64) -> f64 {
    // `f64::max` and `f64::min` ignore NaN, which devices keep.
    numbers.iter().fold(start, |extreme, number| {
        if extreme.is_nan() || number.is_nan() {
            f64::NAN
        } else {
            select(extreme, *number)
        }
    })
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
