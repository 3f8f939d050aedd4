//! The errors of algorithms that transform their inputs: Winograd and FFT.
//!
//! An error is the sum of independent roundings, some for each channel and tap. It therefore grows
//! with the root of their number, as results do (Higham and Mary 2019, doi 10.1137/18M1226312).

use crate::{convolution_problem::ConvolutionProblem, product::ComputeType};
use testgen_operators::{calls::Element, cases::BoundedNumber};

/// The largest error of an element in deviations. The outermost elements of a tile have three times
/// the deviation of all, and the largest of a million errors is five of theirs.
const LARGEST: f64 = 32.0;
/// The deviation in roundings of f32 with the norm of the weights: of F(4x4, 3x3) half of it, of
/// F(6x6, 3x3) one (docs/measurements/engines.md).
const SINGLE: f64 = 2.0;
/// How much larger it is for windows of more than three elements, whose tiles have more points.
const LONG_WINDOWS: f64 = 512.0;
/// The deviation in roundings of transformed numbers to 16 bits or TF32: of F(4x4, 3x3) two of them.
const NARROW: f64 = 4.0;
/// The additions of the three transforms.
const ADDITIONS: f64 = 16.0;
/// The relative error of an operation in f32.
pub(super) const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

/// The errors that a transform may add to a sum of products.
pub(super) struct TransformErrors {
    /// The deviation for each channel of the result.
    deviations: Vec<f64>,
    /// The elements of a channel.
    positions: usize,
}

impl TransformErrors {
    /// The errors of a convolution of row-major factors. Unlike the bound of a sum they depend on
    /// the largest element of x, because a transform adds neighbours that the element itself does
    /// not have.
    pub(super) fn new(problem: &ConvolutionProblem, [x, weight]: [&[f64]; 2]) -> Self {
        let normal = problem.element.smallest_normal();
        // The rounding of a subnormal number is as large as of the smallest normal one.
        let largest = x
            .iter()
            .fold(normal, |most: f64, value| most.max(value.abs()));
        let relative = largest * relative_deviation(problem);
        let norms = weight_norms(problem, weight).into_iter();
        Self {
            deviations: norms.map(|norm| norm * relative).collect(),
            positions: problem.y[2..].iter().product(),
        }
    }

    /// The element of the result with a row-major index, as a transform may compute it.
    pub(super) fn added_to(&self, flat: usize, sum: &BoundedNumber) -> BoundedNumber {
        let deviation = self.deviations[flat / self.positions % self.deviations.len()];
        BoundedNumber {
            value: sum.value,
            // In addition to the bound of a sum, because transformed numbers are also added over
            // channels.
            error: sum.error + LARGEST * deviation,
            variance: sum.variance + deviation * deviation,
        }
    }
}

/// The relative error of a transformed number that matrix units multiply; 0 in f32.
pub(super) fn narrow_rounding(problem: &ConvolutionProblem) -> f64 {
    match (problem.compute, problem.element) {
        // Matrix units truncate to 10 bits.
        (ComputeType::Tf32, _) => 2_f64.powi(-10),
        (_, Element::F32) => 0.0,
        (_, element) => element.unit(),
    }
}

/// The deviation for factors of norm 1.
fn relative_deviation(problem: &ConvolutionProblem) -> f64 {
    let is_long = problem.weight[2..].iter().any(|length| *length > 3);
    let amplification = if is_long { LONG_WINDOWS } else { 1.0 };
    let channels = (problem.x[1] / problem.groups) as f64;
    // Transforms before and after the sum over channels are f32 in every type.
    SINGLE * amplification * UNIT * (channels.sqrt() + ADDITIONS)
        + NARROW * narrow_rounding(problem)
}

/// The Euclidean norm of all weights of each channel of the result.
fn weight_norms(problem: &ConvolutionProblem, weight: &[f64]) -> Vec<f64> {
    let taps: usize = problem.weight[2..].iter().product();
    let mut squares = vec![0.0; problem.y[1]];
    for (index, window) in weight.chunks(taps).enumerate() {
        let square: f64 = window.iter().map(|value| value * value).sum();
        squares[result_channel(problem, index)] += square;
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// The channel of the result that window `index` of the weight belongs to.
fn result_channel(problem: &ConvolutionProblem, index: usize) -> usize {
    let [rows, columns] = [problem.weight[0], problem.weight[1]];
    let (row, column) = (index / columns, index % columns);
    if problem.is_transposed() {
        // The weight is [in, out / groups, ...].
        row / (rows / problem.groups) * columns + column
    } else {
        row
    }
}

#[cfg(test)]
mod tests {
    use super::weight_norms;
    use crate::{
        convolution_problem::ConvolutionProblem,
        convolutions::{plan::ConvolutionPlan, terms::terms},
    };
    use testgen_types::Precision;

    /// The root of the squares of the weights that the elements of a channel multiply.
    fn norm_of_terms(problem: &ConvolutionProblem, weight: &[f64], channel: usize) -> f64 {
        let positions: usize = problem.y[2..].iter().product();
        let elements = (0..positions).map(|position| channel * positions + position);
        let mut used: Vec<usize> = elements
            .flat_map(|flat| terms(problem, flat).map(|[_, by]| by))
            .collect();
        used.sort_unstable();
        used.dedup();
        let square: f64 = used.iter().map(|index| weight[*index].powi(2)).sum();
        square.sqrt()
    }

    #[test]
    fn norms_are_of_the_weights_of_a_channel() {
        let plan = ConvolutionPlan::new(true, Some(Precision::F32));
        for planned in plan.convolutions() {
            let (problem, [_, weight]) = (&planned.problem, planned.factors());
            let norms = weight_norms(problem, weight);
            assert_eq!(norms.len(), problem.y[1]);
            for (channel, norm) in norms.into_iter().enumerate() {
                let expected = norm_of_terms(problem, weight, channel);
                assert!(
                    (norm - expected).abs() <= 1e-9 * norm,
                    "{problem}: {channel}"
                );
            }
        }
    }
}
