//! The arithmetic of a device: how much each operation may be off.

use crate::{calls::Element, cases::number::BoundedNumber};
use testgen_types::Precision;

/// The arithmetic of a device in a precision.
///
/// Intermediate results are f32 in every precision: PyTorch computes operators on f16 and bf16 in
/// f32 and rounds once, and sums inside products are f32. Sums may be in any order and may
/// truncate, as matrix units do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arithmetic {
    element: Element,
    /// The relative error of each factor of a product.
    factor: f64,
}

/// The relative error of an operation in f32.
const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

/// The error of a result without a bound: no two numbers of f32 are further apart. Finite, because
/// an infinite error counts as none.
const UNBOUNDED: f64 = 2.0 * f32::MAX as f64;

/// The largest errors of functions in units in the last place: the limits of OpenCL 3.0 (table 38
/// of the environment specification), which cover what CUDA and HIP document for theirs.
pub(crate) mod ulps {
    /// e to the power x.
    pub(crate) const EXP: f64 = 3.0;
    /// The natural logarithm.
    pub(crate) const LOG: f64 = 3.0;
    /// Sine and cosine.
    pub(crate) const SIN: f64 = 4.0;
    /// The hyperbolic tangent.
    pub(crate) const TANH: f64 = 5.0;
    /// x to the power y.
    pub(crate) const POW: f64 = 16.0;
    /// The error function.
    pub(crate) const ERF: f64 = 16.0;
    /// The square root, and its reciprocal.
    pub(crate) const SQRT: f64 = 3.0;
    /// A quotient.
    pub(crate) const DIV: f64 = 2.5;
}

impl Arithmetic {
    /// The arithmetic of a precision.
    pub fn for_precision(precision: Precision) -> Self {
        // Matrix units truncate both factors of a product to 10 bits of mantissa.
        let factor = if precision == Precision::Tf32 {
            2_f64.powi(-10)
        } else {
            0.0
        };
        Self {
            element: Element::for_precision(precision),
            factor,
        }
    }

    /// The arithmetic on integers and booleans, without any error.
    pub fn exact(element: Element) -> Self {
        Self {
            element,
            factor: 0.0,
        }
    }

    /// The type of results.
    pub fn element(self) -> Element {
        self.element
    }

    /// a + b.
    pub fn add(self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        let value = a.value + b.value;
        // Without the rounding of subnormal results: both are multiples of the smallest number.
        self.with_rounding(
            value,
            a.error + b.error,
            a.variance + b.variance,
            UNIT * value.abs(),
        )
    }

    /// a - b.
    pub(crate) fn sub(self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        self.add(a, b.negated())
    }

    /// a * b.
    pub fn mul(self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        let error = scaled(a.value, b.error) + scaled(b.value, a.error) + a.error * b.error;
        let variance =
            scaled(a.value * a.value, b.variance) + scaled(b.value * b.value, a.variance);
        // One half unit, because IEEE 754 requires the nearest number.
        self.rounded(a.value * b.value, error, variance, 1.0)
    }

    /// a / b.
    pub(crate) fn div(self, a: BoundedNumber, b: BoundedNumber) -> BoundedNumber {
        let value = a.value / b.value;
        // A divisor that may be zero leaves no bound: the error becomes infinite, and not negative.
        let room = (b.value.abs() - b.error).max(f64::MIN_POSITIVE);
        let error = (a.error + scaled(value, b.error)) / room;
        // Twice, because the square of a small divisor would be 0.
        let variance = (a.variance + scaled(value * value, b.variance)) / room / room;
        // Twice, because `rounded` counts half units.
        self.rounded(value, error, variance, 2.0 * ulps::DIV)
    }

    /// A function that is off by at most `ulps` units in the last place.
    pub(crate) fn function(
        self,
        f: impl Fn(f64) -> f64,
        a: BoundedNumber,
        ulps: f64,
    ) -> BoundedNumber {
        let value = f(a.value);
        let [below, above] =
            [f(a.value - a.error), f(a.value + a.error)].map(|edge| (edge - value).abs());
        let spread = below.max(above);
        // A small error is multiplied by the slope of the function, which both ends estimate.
        let slope = if a.error > 0.0 { spread / a.error } else { 0.0 };
        self.rounded(value, spread, a.variance * slope * slope, 2.0 * ulps)
    }

    /// e to the power a.
    pub(crate) fn exp(self, a: BoundedNumber) -> BoundedNumber {
        let product = BoundedNumber {
            // Devices compute 2 to the power a * log2(e), and round that product.
            error: a.error + 2.0 * UNIT * a.value.abs(),
            ..a
        };
        self.function(
            f64::exp,
            // The error of an infinity would be infinite, and both ends would be NaN.
            if a.value.is_finite() { product } else { a },
            ulps::EXP,
        )
    }

    /// The natural logarithm.
    pub(crate) fn log(self, a: BoundedNumber) -> BoundedNumber {
        // An argument that may be zero or less leaves no bound, but the logarithm of a negative end
        // is NaN.
        let error = a.error.min(a.value.max(0.0));
        self.function(f64::ln, BoundedNumber { error, ..a }, ulps::LOG)
    }

    /// The square root.
    pub fn sqrt(self, a: BoundedNumber) -> BoundedNumber {
        self.function(f64::sqrt, a, ulps::SQRT)
    }

    /// The sum in any order.
    pub(crate) fn sum(self, terms: impl IntoIterator<Item = BoundedNumber>) -> BoundedNumber {
        let mut sum = BoundedSum::default();
        terms
            .into_iter()
            .for_each(|term| sum.add(term.value, term.error, term.variance));
        self.summed(&sum)
    }

    /// The sum of products in any order, each of a factor of both sides.
    pub fn dot(
        self,
        factors: impl IntoIterator<Item = (BoundedNumber, BoundedNumber)>,
    ) -> BoundedNumber {
        let mut sum = BoundedSum::default();
        for (a, b) in factors {
            let term = a.value * b.value;
            // Both factors lose bits, and their product is rounded.
            let relative = (2.0 * self.factor + UNIT) * term.abs();
            let rounding = relative + subnormal_rounding(term);
            let carried = scaled(a.value, b.error) + scaled(b.value, a.error);
            let spread =
                scaled(a.value * a.value, b.variance) + scaled(b.value * b.value, a.variance);
            sum.add(term, rounding + carried, spread + rounding * rounding / 3.0);
        }
        self.summed(&sum)
    }

    fn summed(self, sum: &BoundedSum) -> BoundedNumber {
        let additions = sum.count.saturating_sub(1) as f64;
        // Twice the unit, because matrix units truncate.
        let error = sum.error + additions * 2.0 * UNIT * sum.magnitude;
        // A partial sum is about as large as the whole, or as the root of the squares so far.
        let spread = UNIT * UNIT / 3.0 * (sum.squares + sum.value * sum.value);
        BoundedNumber {
            value: sum.value,
            error: finite_or_zero(error),
            variance: sum.variance + additions * spread,
        }
    }

    /// The number as it is stored in the type of results.
    pub fn stored(self, number: BoundedNumber) -> BoundedNumber {
        let representable = self.element.round(number.value) == number.value;
        // Otherwise a copy of an input could be wrong by a rounding.
        if number.value.is_nan() || number.is_exact() && representable {
            return number;
        }
        let (error, least) = (finite_or_zero(number.error), self.element.smallest() / 2.0);
        let step = if self.element == Element::F32 {
            // f32 is the type of intermediate results, which are rounded already, unless they are
            // numbers without an operation.
            (least - error).max(0.0)
        } else {
            self.element.unit() * number.value.abs() + least
        };
        let error = error + finite_or_zero(step);
        BoundedNumber {
            error,
            // The variance of an error that is uniform from -step to step.
            variance: number.variance + step * step / 3.0,
            ..number
        }
    }

    /// A result with its own rounding of `halves` half units in the last place.
    fn rounded(self, value: f64, error: f64, variance: f64, halves: f64) -> BoundedNumber {
        let rounding = halves * UNIT * value.abs() + subnormal_rounding(value);
        self.with_rounding(value, error, variance, rounding)
    }

    /// A result whose own rounding is at most `rounding`.
    fn with_rounding(self, value: f64, error: f64, variance: f64, rounding: f64) -> BoundedNumber {
        if !self.element.is_float() {
            return BoundedNumber::exact(value);
        }
        let local = finite_or_zero(rounding);
        BoundedNumber {
            value,
            // A rounding is uniform between its bounds, so that its variance is a third of their
            // square.
            error: bounded(value, error, UNBOUNDED) + local,
            variance: bounded(value, variance, UNBOUNDED * UNBOUNDED) + local * local / 3.0,
        }
    }
}

/// A sum with everything that its bound depends on.
#[derive(Default)]
struct BoundedSum {
    value: f64,
    error: f64,
    variance: f64,
    magnitude: f64,
    squares: f64,
    count: usize,
}

impl BoundedSum {
    fn add(&mut self, value: f64, error: f64, variance: f64) {
        self.value += value;
        self.error += error;
        self.variance += variance;
        self.magnitude += value.abs();
        self.squares += value * value;
        self.count += 1;
    }
}

/// How much larger than half a unit of the result its rounding to f32 is: half of the smallest
/// number if the result is subnormal. Zero is exact.
fn subnormal_rounding(value: f64) -> f64 {
    if value == 0.0 {
        0.0
    } else {
        (Element::F32.smallest() / 2.0 - UNIT * value.abs()).max(0.0)
    }
}

/// `factor` * `error`, where an exact number has no error whatever the factor is, also an infinite
/// one.
fn scaled(factor: f64, error: f64) -> f64 {
    if error == 0.0 {
        0.0
    } else {
        factor.abs() * error
    }
}

/// `error`, or `most` if a finite result has no bound.
fn bounded(value: f64, error: f64, most: f64) -> f64 {
    if value.is_finite() && error == f64::INFINITY {
        most
    } else {
        finite_or_zero(error)
    }
}

/// Errors next to an infinity have no meaning.
fn finite_or_zero(error: f64) -> f64 {
    // Whether a result is infinite is compared, not by how much.
    if error.is_finite() { error } else { 0.0 }
}

#[cfg(test)]
mod tests;
