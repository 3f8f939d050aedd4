//! The numbers of a computation that is measured, and how many of its elements are compared.

use crate::number_type::NumberType;

/// The most multiplications of a reference: about a second.
// Of larger computations a part of the elements is compared; of every computation, that each
// element was written.
pub(super) const MOST_TERMS: usize = 1 << 27;

/// The numbers of the inputs and of a bias repeat after so many elements.
// Primes, so that they fall on other rows in every column, and not on the same ones in both inputs.
const PERIODS: [usize; 3] = [8191, 8179, 8171];

/// The numbers of input 0 or 1, or of the bias (2): uniform between -1 and 1, as the type has them.
pub(super) fn numbers(index: usize, number: NumberType) -> Vec<f64> {
    // Fractions of multiples of an irrational number are spread evenly (Weyl 1916).
    let step = [
        0.754_877_666_246_692_7,
        0.569_840_290_998_053_2,
        0.618_033_988_749_894_8,
    ][index];
    (1..=PERIODS[index])
        .map(|position| number.round(2.0 * (position as f64 * step).fract() - 1.0))
        .collect()
}
