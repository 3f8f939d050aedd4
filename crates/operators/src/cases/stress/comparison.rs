//! A large result compared with the reference of one period, piece by piece.

use crate::{
    calls::{HostTensor, Piece, row_major_strides},
    cases::{
        evaluate::{ErrorEvaluation, element_headroom, evaluate},
        reference::Reference,
    },
};
use std::{panic::resume_unwind, thread};

/// Elements of a piece below which one thread is as fast.
const PARALLEL: usize = 1 << 20;
/// Threads that compare.
// More threads wait for memory.
const THREADS: usize = 16;

/// The comparison of a result of the shape `whole`.
pub(super) struct StressComparison {
    reference: Reference,
    whole: Vec<usize>,
    /// Value and bound of each element of the period.
    expected: Vec<(f64, f64)>,
    /// The elements of the first period.
    first: Vec<f64>,
    found: WrongElements,
    elements: usize,
}

/// The wrong elements of a part of a result.
#[derive(Debug, Default)]
struct WrongElements {
    wrong: u64,
    non_finite: u64,
    /// The flat index of the element with the least headroom, its headroom, and its number.
    worst: Option<(usize, f64, f64)>,
}

/// Neighbours of one line of the last dimension, all of one line of the period.
struct PeriodSegment<'v> {
    /// The flat index of the first one in the whole.
    flat: usize,
    /// The flat index in the period of the first element of the line.
    line: usize,
    /// The column of the first one.
    column: usize,
    /// Whether the line belongs to the first period.
    in_first: bool,
    values: &'v [f32],
}

impl StressComparison {
    pub(super) fn new(reference: Reference, whole: &[usize]) -> Self {
        let expected = reference
            .numbers
            .iter()
            .map(|number| (number.value, number.error))
            .collect();
        // An element that no piece brings stays NaN, which its bound does not permit.
        let first = vec![f64::NAN; reference.numbers.len()];
        Self {
            reference,
            whole: whole.to_vec(),
            expected,
            first,
            found: WrongElements::default(),
            elements: 0,
        }
    }

    /// Compares a piece.
    pub(super) fn add(&mut self, piece: Piece<'_>) {
        self.elements += piece.values.len();
        let columns = self.columns();
        // Taken out, because the segments borrow the whole comparison.
        let mut first = std::mem::take(&mut self.first);
        for segment in self.segments(piece).filter(|segment| segment.in_first) {
            // Empty for a segment that begins after the period.
            for (column, value) in (segment.column..columns).zip(segment.values) {
                first[segment.line + column] = f64::from(*value);
            }
        }
        self.first = first;
        let threads = if piece.values.len() < PARALLEL {
            1
        } else {
            thread::available_parallelism().map_or(1, usize::from)
        };
        // `chunks` panics at 0.
        let part = piece.values.len().div_ceil(threads.min(THREADS)).max(1);
        let comparison = &*self;
        let found: Vec<WrongElements> = thread::scope(|scope| {
            let workers: Vec<_> = piece
                .values
                .chunks(part)
                .enumerate()
                .map(|(index, values)| {
                    let part = Piece {
                        first: piece.first + index * part,
                        values,
                    };
                    scope.spawn(move || comparison.compared(part))
                })
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        found.into_iter().for_each(|found| self.found.merge(found));
    }

    /// The length of a line of the period.
    fn columns(&self) -> usize {
        self.reference.shape.last().copied().unwrap_or(1)
    }

    fn segments<'v>(&'v self, piece: Piece<'v>) -> impl Iterator<Item = PeriodSegment<'v>> {
        let line = self.whole.last().copied().unwrap_or(1).max(1);
        let mut next = 0;
        std::iter::from_fn(move || {
            let rest = piece.values.get(next..).filter(|rest| !rest.is_empty())?;
            let flat = piece.first + next;
            let column = flat % line;
            let values = &rest[..rest.len().min(line - column)];
            next += values.len();
            let (line, in_first) = self.line_of_period(flat / line);
            Some(PeriodSegment {
                flat,
                line,
                column,
                in_first,
                values,
            })
        })
    }

    /// The flat index in the period of the first element of a line of the whole, and whether that
    /// line is of the first period.
    fn line_of_period(&self, line: usize) -> (usize, bool) {
        let outer = self.whole.len().saturating_sub(1);
        let strides = row_major_strides(&self.reference.shape);
        let (mut rest, mut index, mut in_first) = (line, 0, true);
        for dim in (0..outer).rev() {
            let (place, period) = (rest % self.whole[dim], self.reference.shape[dim]);
            rest /= self.whole[dim];
            in_first &= place < period;
            index += place % period * strides[dim];
        }
        (index, in_first)
    }

    fn compared(&self, piece: Piece<'_>) -> WrongElements {
        let (mut found, columns) = (WrongElements::default(), self.columns());
        for segment in self.segments(piece) {
            let mut values = segment.values;
            let (mut column, mut flat) = (segment.column % columns, segment.flat);
            while !values.is_empty() {
                let count = values.len().min(columns - column);
                let expected = &self.expected[segment.line + column..segment.line + column + count];
                for (index, (value, (number, bound))) in
                    values[..count].iter().zip(expected).enumerate()
                {
                    // Exact zeros have signs, and what is not finite has separate rules.
                    let within = (f64::from(*value) - number).abs() <= *bound && *number != 0.0;
                    if !within {
                        found.look(
                            &self.reference,
                            segment.line + column + index,
                            flat + index,
                            f64::from(*value),
                        );
                    }
                }
                (values, flat, column) = (&values[count..], flat + count, 0);
            }
        }
        found
    }

    /// The evaluation of the whole: the evaluation of the first period, with the wrong elements of
    /// all.
    pub(super) fn evaluation(mut self) -> ErrorEvaluation {
        let count: usize = self.whole.iter().product();
        let tensor = HostTensor {
            shape: self.reference.shape.clone(),
            element: self.reference.element,
            values: std::mem::take(&mut self.first),
        };
        let mut evaluation = evaluate(&self.reference, &tensor);
        for (flat, _, _) in &mut evaluation.worst {
            *flat = self.flat_in_whole(&tensor.position(*flat));
        }
        if self.elements != count {
            evaluation.headroom = 0.0;
            evaluation.failure = Some(format!(
                "{} of {count} elements were returned",
                self.elements
            ));
        }
        let Some((flat, headroom, got)) = self.found.worst else {
            return evaluation;
        };
        let position = self.position_in_whole(flat);
        let index = self.flat_in_period(&position);
        let expected = self.reference.numbers[index];
        evaluation.headroom = evaluation.headroom.min(headroom);
        evaluation.non_finite = self.found.non_finite;
        evaluation.worst = vec![(flat, expected.value, got)];
        let (wrong, value, bound) = (
            self.found.wrong,
            self.reference.element.round(expected.value),
            expected.error,
        );
        evaluation.failure = Some(format!(
            "{wrong} of {count} elements are wrong; {position:?} is {got:?}, expected {value:?} within {bound:.2e}"
        ));
        evaluation
    }

    /// The flat index in the whole of a position in the first period, which is at the start of the
    /// whole.
    fn flat_in_whole(&self, position: &[usize]) -> usize {
        // The period and the whole have different strides.
        let strides = row_major_strides(&self.whole);
        let terms = position.iter().zip(strides);
        terms.map(|(index, stride)| index * stride).sum()
    }

    fn position_in_whole(&self, flat: usize) -> Vec<usize> {
        row_major_strides(&self.whole)
            .iter()
            .zip(&self.whole)
            .map(|(stride, length)| flat / stride % length)
            .collect()
    }

    /// The flat index in the period of the element that a position of the whole repeats.
    fn flat_in_period(&self, position: &[usize]) -> usize {
        position
            .iter()
            .zip(&self.reference.shape)
            .map(|(index, period)| index % period)
            .zip(row_major_strides(&self.reference.shape))
            .map(|(index, stride)| index * stride)
            .sum()
    }
}

impl WrongElements {
    /// Examines an element that is not simply within its bound.
    fn look(&mut self, reference: &Reference, index: usize, flat: usize, got: f64) {
        let headroom = element_headroom(reference, index, got);
        if headroom >= 1.0 {
            return;
        }
        self.wrong += 1;
        self.non_finite += u64::from(!got.is_finite());
        if self.worst.is_none_or(|(_, least, _)| headroom < least) {
            self.worst = Some((flat, headroom, got));
        }
    }

    fn merge(&mut self, other: Self) {
        self.wrong += other.wrong;
        self.non_finite += other.non_finite;
        if other
            .worst
            .is_some_and(|(_, headroom, _)| self.worst.is_none_or(|(_, least, _)| headroom < least))
        {
            self.worst = other.worst;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{calls::Element, cases::number::BoundedNumber};

    /// 3 x 2 numbers with a bound of a tenth, repeated to 7 x 5.
    fn comparison() -> (StressComparison, Vec<f32>) {
        let number = |index: usize| BoundedNumber {
            value: 1.0 + index as f64,
            error: 0.1,
            variance: 1.0,
        };
        let reference = Reference {
            shape: vec![3, 2],
            element: Element::F32,
            numbers: (0..6).map(number).collect(),
            sums: false,
            signed_zeros: false,
        };
        let values = (0..35)
            .map(|flat| 1.0 + (flat / 5 % 3 * 2 + flat % 5 % 2) as f32)
            .collect();
        (StressComparison::new(reference, &[7, 5]), values)
    }

    fn evaluated(change: impl FnOnce(&mut Vec<f32>), size: usize) -> Option<String> {
        let (mut comparison, mut values) = comparison();
        change(&mut values);
        for (index, values) in values.chunks(size).enumerate() {
            comparison.add(Piece {
                first: index * size,
                values,
            });
        }
        comparison.evaluation().failure
    }

    #[test]
    fn every_repetition_is_compared_with_the_period() {
        for size in [1, 3, 5, 8, 35] {
            assert_eq!(evaluated(|_| {}, size), None, "{size}");
            for flat in 0..35 {
                let failure = evaluated(|values| values[flat] += 0.2, size).unwrap_or_default();
                let position = format!(
                    "1 of 35 elements are wrong; [{}, {}] is",
                    flat / 5,
                    flat % 5
                );
                assert!(failure.starts_with(&position), "{failure}");
            }
            let failure = evaluated(|values| values[34] = f32::NAN, size).unwrap_or_default();
            assert!(failure.contains("[6, 4] is NaN"), "{failure}");
        }
        let failure = evaluated(|values| values.truncate(30), 5).unwrap_or_default();
        assert_eq!(failure, "30 of 35 elements were returned");
    }

    /// Otherwise its elements would count as compared.
    #[test]
    #[should_panic(expected = "out of range")]
    fn a_panic_of_a_comparing_thread_is_resumed() {
        let (mut comparison, values) = comparison();
        comparison.expected.truncate(5);
        comparison.add(Piece {
            first: 0,
            values: &values,
        });
    }
}
