//! The reference of a convolution with its bounds: one for algorithms that add products, one for
//! algorithms that transform their inputs.

use super::plan::{ConvolutionNumbers, PlannedConvolution};
use crate::convolution_library::ConvolutionAlgorithm;
use testgen_operators::{
    calls::Element,
    cases::{Arithmetic, BoundedNumber, Reference, reference},
};
use testgen_types::Precision;

/// The references of a convolution.
pub(super) struct ConvolutionBounds {
    added: Reference,
    transformed: Reference,
}

impl ConvolutionBounds {
    pub(super) fn new(planned: &PlannedConvolution) -> Self {
        let arithmetic = Arithmetic::for_precision(planned.precision);
        let mut added = reference(&planned.call, arithmetic);
        if planned.kind == ConvolutionNumbers::Integers {
            let exact =
                |number: &BoundedNumber| arithmetic.stored(BoundedNumber::exact(number.value));
            added.numbers = added.numbers.iter().map(exact).collect();
            added.sums = false;
        }
        let transformed = with_transform(&added, transform_error(planned));
        Self { added, transformed }
    }

    /// The reference with the bounds of an algorithm.
    pub(super) fn for_algorithm(&self, algorithm: &ConvolutionAlgorithm) -> &Reference {
        if algorithm.transforms {
            &self.transformed
        } else {
            &self.added
        }
    }
}

/// How much larger a rounding inside of a Winograd transform may become, for each multiplication:
/// 48 in each dimension of F(4x4, 3x3), the largest one of Lavin and Gray (arXiv 1509.09308), which
/// has 9 multiplications. Roundings of an FFT grow with the logarithm of its length only.
const AMPLIFICATION: f64 = 48.0 * 48.0 / 9.0;
/// The additions of the three transforms.
const ADDITIONS: f64 = 16.0;
/// The relative error of an operation in f32.
const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

/// The error that a transform may add to every element. Unlike the bound of a sum it depends on
/// the largest numbers of the tensors, because a transform adds neighbours that the element itself
/// does not have. Transformed numbers are rounded to 16 bits or to TF32 for the matrix units.
fn transform_error(planned: &PlannedConvolution) -> f64 {
    let factor = match (planned.precision, planned.problem.element) {
        (Precision::Tf32, _) => 2_f64.powi(-10),
        (_, Element::F32) => 0.0,
        (_, element) => element.unit(),
    };
    let [x, weight] = planned.factors().map(|values: &[f64]| {
        values
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()))
    });
    let roundings = UNIT * (planned.taps() as f64 + ADDITIONS) + 2.0 * factor;
    AMPLIFICATION * planned.taps() as f64 * x * weight * roundings
}

fn with_transform(added: &Reference, error: f64) -> Reference {
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
    use crate::{convolution_library::ConvolutionAlgorithm, convolutions::plan::ConvolutionPlan};
    use testgen_types::Precision;

    #[test]
    fn a_transform_has_a_wider_bound_that_wrong_results_exceed() {
        let algorithm = |transforms| ConvolutionAlgorithm {
            id: String::new(),
            configuration: String::new(),
            transforms,
            deterministic: true,
            workspace: 0,
            number: 0,
            math: 0,
        };
        let plan = ConvolutionPlan::new(true, Some(Precision::F32));
        for planned in plan.convolutions() {
            let bounds = ConvolutionBounds::new(&planned);
            let [added, transformed] =
                [false, true].map(|transforms| bounds.for_algorithm(&algorithm(transforms)));
            let largest = transformed
                .numbers
                .iter()
                .fold(0.0_f64, |most, number| most.max(number.value.abs()));
            for (added, transformed) in added.numbers.iter().zip(&transformed.numbers) {
                assert!(added.error < transformed.error);
                assert!(transformed.error < largest / 4.0, "{}", planned.problem);
            }
        }
    }
}
