//! A number of the reference with the error that a device may have.

/// A value in f64, and how far a device's result may be from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedNumber {
    /// The value.
    pub value: f64,
    /// The largest error: all roundings on the way add up, in the worst order.
    pub error: f64,
    /// The variance of the error if roundings are independent: the sum of a third of the square of
    /// each.
    pub variance: f64,
}

impl BoundedNumber {
    /// A number that every device has: an input, or an element that is moved.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            error: 0.0,
            variance: 0.0,
        }
    }

    /// Whether no rounding is involved.
    pub(crate) fn is_exact(self) -> bool {
        self.error == 0.0
    }

    /// The negative number.
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }

    /// The larger number; NaN if either is NaN.
    #[must_use]
    pub(crate) fn maximum(self, other: Self) -> Self {
        // Within their errors, a device may take either for the larger.
        let (error, variance) = (
            self.error.max(other.error),
            self.variance.max(other.variance),
        );
        Self {
            value: maximum(self.value, other.value),
            error,
            variance,
        }
    }

    /// The number or one of the limits, whichever is nearest; NaN stays NaN.
    #[must_use]
    pub(crate) fn clamped(self, [low, high]: [f64; 2]) -> Self {
        Self {
            // In this order, as `torch.clamp`: with limits that cross, the upper one is the result.
            value: minimum(maximum(self.value, low), high),
            ..self
        }
    }
}

/// The larger of two; NaN if either is NaN.
pub(crate) fn maximum(a: f64, b: f64) -> f64 {
    // `f64::max` ignores NaN; PyTorch returns it.
    match (a.is_nan(), b.is_nan()) {
        (true, _) => a,
        (_, true) => b,
        _ => a.max(b),
    }
}

/// The smaller of two; NaN if either is NaN.
pub(crate) fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}
