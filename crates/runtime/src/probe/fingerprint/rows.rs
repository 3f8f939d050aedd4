//! The product that determines the fingerprint: each row of the left matrix shows one feature in
//! the sum of its row.
//!
//! Libraries compute A B without C, so an earlier term of the sum has the part of C.

use super::super::cases::{FloatFormat, INNER, ProbeProduct, power};

/// The number of different rows; a larger matrix repeats them.
pub(super) const ROWS: usize = 16;
/// The number of different columns.
pub(super) const COLUMNS: usize = 4;
/// The positions of the small term in the first rows: the first one at which it survives is the
/// number of terms that are added at once.
pub(super) const DISTANCES: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// Row: two terms of which one is lost if both are added to the accumulator at once.
pub(super) const PAIR: usize = 6;
/// Rows: terms of 1/2, 1/4 and 1/8 of a step of the sum, next to a large one.
pub(super) const EXTRA: [usize; 3] = [7, 8, 9];
/// Rows: 3/2 steps above an even number, the same negated, and half a step.
pub(super) const ROUNDING: [usize; 3] = [10, 11, 12];
/// Row: operands below the smallest normal number; read in [`WIDE`].
pub(super) const SUBNORMAL_INPUT: usize = 13;
/// Row: a result below the smallest normal number; read in [`NARROW`].
pub(super) const SUBNORMAL_OUTPUT: usize = 14;
/// Row: a small sum of earlier terms, then two large terms that cancel.
pub(super) const SEPARATE: usize = 15;
/// The column whose factors are small.
pub(super) const NARROW: usize = 1;
/// The column whose factors are large.
pub(super) const WIDE: usize = 2;
/// The distance between neighbours of 2^30 in f32.
pub(super) const STEP: f64 = 128.0;
/// Far below a step, so that no unit keeps it next to 2^30.
pub(super) const SMALL: f64 = 1.0 / 32.0;

/// Where large terms are: the factor of the right matrix is 2^15 there and 1 elsewhere.
const LARGE_AT: [usize; 5] = [0, 1, 6, LATER, LATER + 1];
/// A position in a later block than the first terms, on every unit.
const LATER: usize = 40;

/// The product [side, side] of the fingerprint.
pub(in super::super) fn product(format: FloatFormat, side: usize) -> ProbeProduct {
    let left = (0..side)
        .flat_map(|row| left_row(format, row % ROWS))
        .collect();
    let right = (0..INNER)
        .flat_map(|inner| (0..side).map(move |column| right(format, inner, column)))
        .collect();
    ProbeProduct { side, left, right }
}

fn left_row(format: FloatFormat, row: usize) -> Vec<f64> {
    let mut terms = vec![0.0; INNER];
    for (position, value) in nonzero(format, row) {
        terms[position] = value;
    }
    terms
}

/// The terms of a row that are not zero.
fn nonzero(format: FloatFormat, row: usize) -> Vec<(usize, f64)> {
    let large = power(15);
    match row {
        // The large terms cancel, and the small one survives only if it is added after them.
        0..PAIR => vec![(0, large), (1, -large), (DISTANCES[row], SMALL)],
        PAIR => vec![(0, large), (6, -large), (7, SMALL)],
        7..=9 => vec![(0, large), (1, -large), (2, STEP * power(6 - row as i32))],
        // A later block takes the large term away and leaves the rounded rest.
        10 => vec![(0, large), (2, STEP), (3, STEP / 2.0), (LATER, -large)],
        11 => vec![(0, -large), (2, -STEP), (3, -STEP / 2.0), (LATER, large)],
        12 => vec![(0, large), (2, STEP / 2.0), (LATER, -large)],
        SUBNORMAL_INPUT => vec![(2, format.smallest_normal / 4.0)],
        SUBNORMAL_OUTPUT => vec![(2, narrow(format))],
        _ => vec![(2, SMALL), (LATER, large), (LATER + 1, -large)],
    }
}

/// Its square is a quarter of the smallest normal number.
fn narrow(format: FloatFormat) -> f64 {
    (format.smallest_normal / 4.0).sqrt()
}

fn right(format: FloatFormat, inner: usize, column: usize) -> f64 {
    match column % COLUMNS {
        NARROW => narrow(format),
        // Lifts the product of a subnormal operand into the normal range.
        WIDE => power(14),
        _ if LARGE_AT.contains(&inner) => power(15),
        _ => 1.0,
    }
}
