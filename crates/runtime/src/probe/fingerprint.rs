//! The fingerprint of the matrix unit: how a product adds its terms, and which generations of GPUs
//! are known to add them so.
//!
//! Pure: `rows` has the product, this file evaluates its answers, `generations` has the published
//! features.

mod generations;
mod rows;

pub(super) use rows::product;

use rows::{COLUMNS, DISTANCES, EXTRA, NARROW, PAIR, ROUNDING, ROWS, SEPARATE, SMALL, STEP, WIDE};
use rows::{SUBNORMAL_INPUT, SUBNORMAL_OUTPUT};

use super::cases::{FloatFormat, power};
use testgen_types::{ExtraBits, MatrixUnit, Precision, SumRounding};

/// Evaluates the answers [side, side] to [`product`] in `precision`; `None` when their number is
/// another one.
pub(super) fn matrix_unit(
    precision: Precision,
    answers: &[f64],
    side: usize,
) -> Option<MatrixUnit> {
    let format = FloatFormat::for_precision(precision);
    (side >= ROWS && answers.len() == side * side).then(|| {
        let answers = Answers {
            values: answers,
            side,
        };
        let terms = answers.terms();
        let mut unit = MatrixUnit {
            terms,
            extra_bits: terms
                // The row has its terms at positions 0 to 2; narrower units do not add them at
                // once.
                .filter(|terms| *terms >= 4)
                .and_then(|_| answers.extra_bits()),
            rounding: answers.rounding(),
            accumulator_separate: answers.survives(SEPARATE, 0, SMALL),
            subnormal_inputs: answers.survives(
                SUBNORMAL_INPUT,
                WIDE,
                format.smallest_normal * power(12),
            ),
            subnormal_outputs: answers.survives(
                SUBNORMAL_OUTPUT,
                NARROW,
                format.smallest_normal / 4.0,
            ),
            like: Vec::new(),
        };
        unit.like = generations::like(precision, &unit);
        unit
    })
}

/// The answers of one product.
struct Answers<'a> {
    values: &'a [f64],
    side: usize,
}

impl Answers<'_> {
    /// The answer that all repetitions of a row and a column have in common; `None` when they
    /// differ.
    fn answer(&self, row: usize, column: usize) -> Option<f64> {
        let first = *self.values.get(row * self.side + column)?;
        let rows = (row..self.side).step_by(ROWS);
        // Repetitions must agree: a unit whose answer depends on the place in a tile is not
        // described by one value.
        let mut all = rows.flat_map(|row| {
            (column..self.side)
                .step_by(COLUMNS)
                .map(move |column| (row, column))
        });
        all.all(|(row, column)| self.values[row * self.side + column] == first)
            .then_some(first)
    }

    /// Whether the answer is `kept` or zero.
    fn survives(&self, row: usize, column: usize, kept: f64) -> Option<bool> {
        match self.answer(row, column)? {
            answer if answer == kept => Some(true),
            // Lost as a whole. Any other answer is of a unit that these cases do not describe.
            0.0 => Some(false),
            _ => None,
        }
    }

    fn terms(&self) -> Option<usize> {
        let survives = (0..DISTANCES.len())
            .map(|row| self.survives(row, 0, SMALL))
            .collect::<Option<Vec<bool>>>()?;
        let first = survives.iter().position(|survives| *survives)?;
        // A term that is lost further away than one that survives: blocks in another order than the
        // terms.
        if survives[first..].iter().any(|survives| !survives) {
            return None;
        }
        if first > 0 {
            return Some(DISTANCES[first]);
        }
        // Only a unit that keeps the nearest term needs the second case.
        self.survives(PAIR, 0, SMALL)
            .map(|alone| if alone { 1 } else { 2 })
    }

    fn extra_bits(&self) -> Option<ExtraBits> {
        let kept = |index: usize| self.survives(EXTRA[index], 0, STEP * power(-1 - index as i32));
        match (kept(0)?, kept(1)?, kept(2)?) {
            (false, false, false) => Some(ExtraBits::None),
            (true, false, false) => Some(ExtraBits::One),
            (true, true, false) => Some(ExtraBits::Two),
            (true, true, true) => Some(ExtraBits::ThreeOrMore),
            _ => None,
        }
    }

    fn rounding(&self) -> Option<SumRounding> {
        let [above, below, half] =
            ROUNDING.map(|row| self.answer(row, 0).map(|answer| answer / STEP));
        match (above?, below?, half?) {
            (2.0, -2.0, 0.0) => Some(SumRounding::NearestEven),
            (2.0, -2.0, 1.0) => Some(SumRounding::NearestAway),
            (1.0, -1.0, 0.0) => Some(SumRounding::TowardZero),
            (1.0, -2.0, 0.0) => Some(SumRounding::Down),
            (2.0, -1.0, 1.0) => Some(SumRounding::Up),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
