//! The reference of a convolution with its bounds: one for algorithms that add products, one for
//! algorithms that transform their inputs. Owns when a bound decides about a result.

use super::{
    plan::{ConvolutionNumbers, PlannedConvolution},
    terms::terms,
    transform::{TransformErrors, UNIT, narrow_rounding},
};
use crate::{
    convolution_library::ConvolutionAlgorithm,
    convolution_problem::ConvolutionProblem,
    evaluation::{ResultEvaluation, evaluate},
    guarded::Overwritten,
};
use testgen_operators::cases::{Arithmetic, BoundedNumber, Reference, reference};

/// The references of a convolution.
pub(crate) struct ConvolutionBounds {
    added: Reference,
    transformed: Reference,
    /// The channels or the taps of an element, whichever are more.
    parts: usize,
    /// The relative error that a transform may add to all elements together.
    common_error: f64,
}

/// The truncation of both factors in units of their rounding.
const TRUNCATIONS: f64 = 4.0;
/// The passes of an FFT over a tile of 32 x 32, there and back. In each of them all elements are
/// multiplied by the same rounded constants.
const PASSES: f64 = 20.0;
/// The most deviations of the scale of a result, as of the bias of a sum.
const SCALE_LIMIT: f64 = 8.0;

/// The evaluation of a result.
pub(crate) enum ConvolutionEvaluation {
    /// It is right or wrong.
    Decided(ResultEvaluation),
    /// Every element was written and is within its bound, which is too wide to say more.
    Undecided,
}

impl ConvolutionBounds {
    pub(super) fn new(planned: &PlannedConvolution) -> Self {
        let arithmetic = Arithmetic::for_precision(planned.problem.precision());
        let mut added = reference(&planned.call, arithmetic);
        if planned.kind == ConvolutionNumbers::Integers {
            let exact =
                |number: &BoundedNumber| arithmetic.stored(BoundedNumber::exact(number.value));
            added.numbers = added.numbers.iter().map(exact).collect();
            // Exact sums have no roundings whose variance could be measured.
            added.sums = false;
        }
        let all: Vec<usize> = (0..added.numbers.len()).collect();
        Self::with_transforms(added, &planned.problem, planned.factors(), &all)
    }

    /// The references of the elements with these row-major indices; the factors are row-major.
    pub(crate) fn of_elements(
        problem: &ConvolutionProblem,
        [x, weight]: [&[f64]; 2],
        elements: &[usize],
    ) -> Self {
        let arithmetic = Arithmetic::for_precision(problem.precision());
        let element = |flat: &usize| {
            let exact = |[from, by]: [usize; 2]| {
                (
                    BoundedNumber::exact(x[from]),
                    BoundedNumber::exact(weight[by]),
                )
            };
            arithmetic.stored(arithmetic.dot(terms(problem, *flat).map(exact)))
        };
        let added = Reference {
            shape: vec![elements.len()],
            element: problem.element,
            numbers: elements.iter().map(element).collect(),
            sums: true,
            signed_zeros: false,
        };
        Self::with_transforms(added, problem, [x, weight], elements)
    }

    fn with_transforms(
        added: Reference,
        problem: &ConvolutionProblem,
        factors: [&[f64]; 2],
        elements: &[usize],
    ) -> Self {
        let errors = TransformErrors::new(problem, factors);
        let numbers = elements.iter().zip(&added.numbers);
        let transformed = Reference {
            numbers: numbers
                .map(|(flat, sum)| errors.added_to(*flat, sum))
                .collect(),
            // Of integers, too: a transform multiplies by fractions, so that it rounds where sums
            // are exact.
            sums: true,
            ..added.clone()
        };
        let taps: usize = problem.weight[2..].iter().product();
        Self {
            added,
            transformed,
            // One of more parts has a smaller share of the result, so its loss is harder to detect.
            parts: taps.max(problem.x[1] / problem.groups),
            common_error: TRUNCATIONS * narrow_rounding(problem) + PASSES * UNIT,
        }
    }

    /// Compares the result of an algorithm with its bounds.
    pub(crate) fn evaluate(
        &self,
        algorithm: &ConvolutionAlgorithm,
        values: &[f64],
        overwritten: Option<Overwritten>,
    ) -> ConvolutionEvaluation {
        if !algorithm.transforms {
            return ConvolutionEvaluation::Decided(evaluate(&self.added, values, overwritten));
        }
        let evaluation =
            evaluate(&self.transformed, values, overwritten).and(self.evaluate_scale(values));
        // A bound that is too wide makes a pass worthless, but never a failure.
        let passes = evaluation.failure.is_none();
        if passes && !self.is_as_exact_as_sums(values) && !self.detects_lost_terms() {
            return ConvolutionEvaluation::Undecided;
        }
        ConvolutionEvaluation::Decided(evaluation)
    }

    /// Compares the scale of all elements: other errors of a transform are independent of each
    /// other.
    fn evaluate_scale(&self, values: &[f64]) -> ResultEvaluation {
        let numbers = &self.transformed.numbers;
        let squares: f64 = numbers.iter().map(|number| number.value.powi(2)).sum();
        let pairs = numbers.iter().zip(values);
        let products = pairs.map(|(number, value)| (value - number.value) * number.value);
        // The factor of the least-squares fit of the errors by the values.
        let scale = products.sum::<f64>().abs() / squares;
        let spreads = numbers
            .iter()
            .map(|number| number.variance * number.value.powi(2));
        // The deviation of that factor if the errors of the elements are independent.
        let deviation = spreads.sum::<f64>().sqrt() / squares;
        let most = SCALE_LIMIT * deviation + self.common_error;
        if !scale.is_finite() || scale == 0.0 {
            // Zeros have no scale; each element is compared in any case.
            return ResultEvaluation {
                headroom: f64::INFINITY,
                failure: None,
            };
        }
        let message = || {
            format!("all elements differ by a factor of {scale:.1e}, at most {most:.1e} is allowed")
        };
        ResultEvaluation {
            headroom: most / scale,
            failure: (scale > most).then(message),
        }
    }

    /// Whether each element is within the bound of a sum of products.
    fn is_as_exact_as_sums(&self, values: &[f64]) -> bool {
        // Errors of a transform are larger than independent roundings of a sum.
        let elements = Reference {
            sums: false,
            ..self.added.clone()
        };
        evaluate(&elements, values, None).failure.is_none()
    }

    /// Whether a result would fail that lacks one channel, or one tap of the window. Without it the
    /// root of the mean square changes by the root of its share.
    fn detects_lost_terms(&self) -> bool {
        let numbers = &self.transformed.numbers;
        let squares: f64 = numbers.iter().map(|number| number.value.powi(2)).sum();
        let share = (squares / (numbers.len() * self.parts) as f64).sqrt();
        // With both signs, which no sum of all errors shows: the harder case.
        let alternating = [share, -share].into_iter().cycle();
        let lacking: Vec<f64> = numbers
            .iter()
            .zip(alternating)
            .map(|(number, share)| number.value + share)
            .collect();
        evaluate(&self.transformed, &lacking, None)
            .failure
            .is_some()
    }
}

#[cfg(test)]
mod tests;
