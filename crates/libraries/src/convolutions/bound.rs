//! The reference of a convolution with its bounds: one for algorithms that add products, one for
//! algorithms that transform their inputs.

use super::{
    plan::{ConvolutionNumbers, PlannedConvolution},
    terms::terms,
};
use crate::{
    convolution_library::ConvolutionAlgorithm, convolution_problem::ConvolutionProblem,
    product::ComputeType,
};
use testgen_operators::{
    calls::Element,
    cases::{Arithmetic, BoundedNumber, Reference, reference},
};

/// The references of a convolution.
pub(crate) struct ConvolutionBounds {
    added: Reference,
    transformed: Reference,
}

impl ConvolutionBounds {
    pub(super) fn new(planned: &PlannedConvolution) -> Self {
        let arithmetic = Arithmetic::for_precision(planned.problem.precision());
        let mut added = reference(&planned.call, arithmetic);
        if planned.kind == ConvolutionNumbers::Integers {
            let exact =
                |number: &BoundedNumber| arithmetic.stored(BoundedNumber::exact(number.value));
            added.numbers = added.numbers.iter().map(exact).collect();
            added.sums = false;
        }
        Self::with_transforms(added, &planned.problem, planned.factors())
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
        Self::with_transforms(added, problem, [x, weight])
    }

    fn with_transforms(
        added: Reference,
        problem: &ConvolutionProblem,
        factors: [&[f64]; 2],
    ) -> Self {
        let transformed = with_error(&added, transform_error(problem, factors));
        Self { added, transformed }
    }

    /// The reference with the bounds of an algorithm.
    pub(crate) fn for_algorithm(&self, algorithm: &ConvolutionAlgorithm) -> &Reference {
        if algorithm.transforms {
            &self.transformed
        } else {
            &self.added
        }
    }

    /// Whether the bounds of an algorithm are so small that wrong results exceed them.
    pub(crate) fn are_decisive(&self, algorithm: &ConvolutionAlgorithm) -> bool {
        let numbers = &self.for_algorithm(algorithm).numbers;
        let largest =
            |size: fn(&BoundedNumber) -> f64| numbers.iter().map(size).fold(0.0, f64::max);
        // Bounds of transforms grow at least with the channels, results with their root.
        !algorithm.transforms
            || largest(|number| number.error) < WIDEST * largest(|number| number.value.abs())
    }
}

/// The largest part of the largest result that a bound may be: with a wider one, wrong numbers
/// would pass.
const WIDEST: f64 = 0.25;

/// How much larger a rounding inside of a Winograd transform may become, for each multiplication:
/// 48 in each dimension of F(4x4, 3x3), the largest one of Lavin and Gray (arXiv 1509.09308), which
/// has 9 multiplications. Roundings of an FFT grow with the logarithm of its length only.
const AMPLIFICATION: f64 = 48.0 * 48.0 / 9.0;
/// The additions of the three transforms.
const ADDITIONS: f64 = 16.0;
/// The relative error of an operation in f32.
const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

/// The error that a transform may add to every element.
fn transform_error(problem: &ConvolutionProblem, factors: [&[f64]; 2]) -> f64 {
    // Transformed numbers are rounded to 16 bits or to TF32 for the matrix units.
    let factor = match (problem.compute, problem.element) {
        (ComputeType::Tf32, _) => 2_f64.powi(-10),
        (_, Element::F32) => 0.0,
        (_, element) => element.unit(),
    };
    // Unlike the bound of a sum, this one depends on the largest numbers of the tensors, because a
    // transform adds neighbours that the element itself does not have.
    let [x, weight] = factors.map(|values: &[f64]| {
        values
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()))
    });
    let taps = problem.taps() as f64;
    let roundings = UNIT * (taps + ADDITIONS) + 2.0 * factor;
    AMPLIFICATION * taps * x * weight * roundings
}

fn with_error(added: &Reference, error: f64) -> Reference {
    Reference {
        numbers: added
            .numbers
            .iter()
            .map(|number: &BoundedNumber| BoundedNumber {
                error: number.error + error,
                ..*number
            })
            .collect(),
        sums: false,
        ..added.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::ConvolutionBounds;
    use crate::{
        convolution_library::ConvolutionAlgorithm, convolution_problem::ConvolutionProblem,
        convolutions::plan::ConvolutionPlan, product::ComputeType,
    };
    use testgen_operators::calls::{Attributes, Element};
    use testgen_types::{Operator, Precision};

    #[test]
    fn single_elements_have_the_reference_of_the_whole_result() {
        for precision in [Precision::F32, Precision::Tf32, Precision::Bf16] {
            for planned in ConvolutionPlan::new(true, Some(precision)).convolutions() {
                let (problem, whole) = (&planned.problem, ConvolutionBounds::new(&planned));
                let all: Vec<usize> = (0..problem.y.iter().product()).collect();
                let elements = ConvolutionBounds::of_elements(problem, planned.factors(), &all);
                assert_eq!(elements.added.numbers.len(), whole.added.numbers.len());
                let numbers = whole.added.numbers.iter().zip(&elements.added.numbers);
                for (whole, element) in numbers {
                    let difference = (whole.value - element.value).abs();
                    assert!(difference <= 1e-12 * (1.0 + whole.value.abs()), "{problem}");
                    // Sums of integers have a smaller bound in the plan.
                    assert!(element.error >= 0.999 * whole.error, "{problem}");
                }
            }
        }
    }

    fn algorithm(transforms: bool) -> ConvolutionAlgorithm {
        ConvolutionAlgorithm {
            id: String::new(),
            configuration: String::new(),
            transforms,
            deterministic: true,
            workspace: 0,
            number: 0,
            math: 0,
        }
    }

    #[test]
    fn a_transform_has_a_wider_bound_that_wrong_results_exceed() {
        let plan = ConvolutionPlan::new(true, Some(Precision::F32));
        for planned in plan.convolutions() {
            let bounds = ConvolutionBounds::new(&planned);
            let [added, transformed] =
                [false, true].map(|transforms| bounds.for_algorithm(&algorithm(transforms)));
            for (added, transformed) in added.numbers.iter().zip(&transformed.numbers) {
                assert!(added.error < transformed.error);
            }
            let is_decisive = bounds.are_decisive(&algorithm(true));
            assert!(is_decisive, "{}", planned.problem);
        }
    }

    #[test]
    fn the_bound_of_a_transform_with_many_channels_is_not_decisive() {
        let decisive = |channels: usize, transforms| {
            let shapes: [&[usize]; 2] = [&[1, channels, 4, 4], &[1, channels, 3, 3]];
            let attributes = Attributes {
                groups: 1,
                ..Attributes::default()
            };
            let types = (Element::F16, ComputeType::F32);
            let problem = ConvolutionProblem::new(Operator::Conv2d, types, shapes, &attributes);
            let problem = problem.expect("is a convolution");
            let ones = shapes.map(|shape| vec![1.0; shape.iter().product()]);
            let bounds = ConvolutionBounds::of_elements(
                &problem,
                ones.each_ref().map(Vec::as_slice),
                &[0, 1, 2, 3],
            );
            bounds.are_decisive(&algorithm(transforms))
        };
        assert!(decisive(1024, false));
        assert!(!decisive(1024, true));
    }
}
