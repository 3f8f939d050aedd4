//! One convolution on made tensors: each algorithm is compared with f64, then timed.
//!
//! Owns which elements are compared. The bounds and the memory are the ones of the list of a
//! library.

use super::{
    stopwatch::median_microseconds,
    trial_numbers::{MOST_TERMS, numbers},
    tuner::{AlgorithmMeasurement, AlgorithmTrial},
};
use crate::{
    convolution_library::ConvolutionAlgorithm,
    convolution_problem::ConvolutionProblem,
    convolutions::{ConvolutionBounds, ConvolutionCase, ConvolutionEvaluation, OpenedConvolutions},
    evaluation::AlgorithmResult,
    guarded::Overwritten,
    library_error::LibraryError,
    number_type::NumberType,
};
use std::collections::BTreeSet;

/// A convolution in the memory of a device.
pub(super) struct ConvolutionTrial<'a> {
    opened: OpenedConvolutions<'a>,
    case: ConvolutionCase<'a>,
    /// The indices of the compared elements.
    elements: Vec<usize>,
    bounds: ConvolutionBounds,
}

impl<'a> ConvolutionTrial<'a> {
    /// Copies the tensors to the device, and computes the reference.
    pub(super) fn new(
        opened: OpenedConvolutions<'a>,
        problem: &'a ConvolutionProblem,
    ) -> Result<Self, LibraryError> {
        let number = NumberType::of_element(problem.element);
        let factors = [(0, &problem.x), (1, &problem.weight)].map(|(index, shape)| {
            let length: usize = shape.iter().product();
            let repeated = numbers(index, number).into_iter().cycle();
            repeated.take(length).collect::<Vec<f64>>()
        });
        let factors = factors.each_ref().map(Vec::as_slice);
        let elements = compared(problem);
        Ok(Self {
            opened,
            case: ConvolutionCase::new(opened, problem, factors)?,
            bounds: ConvolutionBounds::of_elements(problem, factors, &elements),
            elements,
        })
    }

    /// Compares the elements that have a reference.
    fn evaluate(
        &self,
        algorithm: &ConvolutionAlgorithm,
        values: &[f64],
        overwritten: Option<Overwritten>,
    ) -> ConvolutionEvaluation {
        let compared: Vec<f64> = self.elements.iter().map(|index| values[*index]).collect();
        self.bounds.evaluate(algorithm, &compared, overwritten)
    }

    fn time(&self, algorithm: &ConvolutionAlgorithm) -> Result<f64, LibraryError> {
        let workspace = self.case.workspace(algorithm)?;
        let start = || self.case.start(algorithm, &workspace);
        median_microseconds(self.opened.gpu, start)
    }
}

impl AlgorithmTrial<ConvolutionAlgorithm> for ConvolutionTrial<'_> {
    fn measure(
        &self,
        algorithm: &ConvolutionAlgorithm,
    ) -> Result<AlgorithmMeasurement, LibraryError> {
        let (values, overwritten) = match self.case.compute(algorithm)? {
            AlgorithmResult::Refused(error) => {
                return Ok(AlgorithmMeasurement::Wrong(error.to_string()));
            }
            AlgorithmResult::Computed {
                values,
                overwritten,
            } => (values, overwritten),
        };
        // Only a part of the elements is compared, but each of them must have been written.
        if let Some(problem) = missing(&values) {
            return Ok(AlgorithmMeasurement::Wrong(problem));
        }
        match self.evaluate(algorithm, &values, overwritten) {
            ConvolutionEvaluation::Undecided => Ok(AlgorithmMeasurement::Undecided),
            ConvolutionEvaluation::Decided(evaluation) => match evaluation.failure {
                Some(problem) => Ok(AlgorithmMeasurement::Wrong(problem)),
                None => self.time(algorithm).map(AlgorithmMeasurement::Microseconds),
            },
        }
    }
}

/// Why a result is wrong of which elements are missing, also elements that have no reference.
fn missing(values: &[f64]) -> Option<String> {
    let missing = values.iter().filter(|value| value.is_nan()).count();
    (missing > 0).then(|| format!("{missing} elements are NaN or were not written"))
}

/// The row-major indices of so many elements of the result that the reference has at most
/// [`MOST_TERMS`] terms.
fn compared(problem: &ConvolutionProblem) -> Vec<usize> {
    /// The golden ratio, whose multiples are spread evenly.
    const STEP: f64 = 0.618_033_988_749_894_8;
    let all: usize = problem.y.iter().product();
    let kernel: usize = problem.weight[2..].iter().product();
    let terms = problem.x[1] / problem.groups * kernel;
    let most = MOST_TERMS / terms.max(1);
    // All of them, or the first, the last and others on no grid, because columns and channels are
    // at equal distances.
    if all <= most {
        return (0..all).collect();
    }
    let spread = (2..most).map(|index| (index as f64 * STEP).fract() * all as f64);
    let inner: BTreeSet<usize> = spread.map(|place| place as usize).collect();
    let ends = [0, all - 1].into_iter();
    ends.chain(
        inner
            .into_iter()
            .filter(|index| *index > 0 && *index < all - 1),
    )
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{ConvolutionProblem, MOST_TERMS, compared};
    use crate::product::ComputeType;
    use testgen_operators::calls::{Attributes, Element};
    use testgen_types::Operator;

    #[test]
    fn small_convolutions_are_compared_whole_and_large_ones_in_part() {
        let elements = |x: &[usize], weight: &[usize]| {
            let attributes = Attributes {
                groups: 1,
                padding: vec![1, 1],
                ..Attributes::default()
            };
            let types = (Element::F16, ComputeType::F32);
            let problem =
                ConvolutionProblem::new(Operator::Conv2d, types, [x, weight], &attributes);
            let problem = problem.expect("is a convolution");
            (compared(&problem), problem.y.iter().product::<usize>())
        };
        let (small, all) = elements(&[1, 4, 8, 8], &[2, 4, 3, 3]);
        assert_eq!(small, (0..all).collect::<Vec<_>>());
        let (large, all) = elements(&[1, 512, 128, 128], &[512, 512, 3, 3]);
        assert!(large.len() * 512 * 9 <= MOST_TERMS);
        assert!(large.len() > 20_000 && large.contains(&(all - 1)));
        let columns = |column: usize| large.iter().filter(|one| *one % 128 == column).count();
        assert!((0..128).all(|column| columns(column) > 50));
    }
}
