//! The convolutions that are computed: 28 shapes, each in four variants, in every type.

use crate::convolution_problem::ConvolutionProblem;
use std::fmt;
use testgen_operators::{
    calls::{Call, Element, HostTensor},
    cases::cases,
};
use testgen_types::{Operator, Precision};

/// Shapes as operators have them: batch, in, out, spatial lengths, kernel.
const SHAPES: &[(Operator, &[usize])] = &[
    (Operator::Conv1d, &[2, 3, 4, 19, 3]),
    (Operator::Conv1d, &[1, 1, 1, 4097, 3]),
    (Operator::Conv1d, &[2, 32, 16, 33, 1]),
    (Operator::Conv1d, &[1, 16, 32, 129, 5]),
    (Operator::Conv1d, &[3, 8, 8, 64, 7]),
    (Operator::Conv2d, &[2, 3, 4, 9, 11, 3]),
    (Operator::Conv2d, &[1, 2, 3, 8, 8, 1]),
    (Operator::Conv2d, &[1, 1, 1, 5, 5, 3]),
    (Operator::Conv2d, &[33, 4, 4, 6, 6, 3]),
    (Operator::Conv2d, &[1, 16, 16, 16, 16, 3]),
    (Operator::Conv2d, &[1, 3, 16, 32, 31, 7]),
    (Operator::Conv2d, &[2, 8, 8, 17, 19, 5]),
    (Operator::Conv2d, &[1, 64, 32, 7, 9, 3]),
    (Operator::Conv2d, &[2, 32, 64, 14, 14, 3]),
    (Operator::Conv2d, &[4, 16, 32, 28, 28, 1]),
    (Operator::Conv2d, &[1, 128, 64, 8, 8, 3]),
    (Operator::Conv2d, &[1, 256, 128, 4, 4, 1]),
    (Operator::Conv2d, &[1, 2, 2, 129, 131, 3]),
    (Operator::Conv2d, &[1, 8, 16, 56, 56, 3]),
    (Operator::Conv3d, &[1, 2, 3, 5, 6, 7, 3]),
    (Operator::Conv3d, &[2, 8, 8, 6, 7, 8, 3]),
    (Operator::Conv3d, &[1, 16, 8, 4, 9, 9, 1]),
    (Operator::Conv3d, &[1, 4, 4, 12, 13, 14, 5]),
    (Operator::ConvTranspose2d, &[2, 3, 4, 5, 6, 3]),
    (Operator::ConvTranspose2d, &[1, 16, 8, 7, 9, 3]),
    (Operator::ConvTranspose2d, &[1, 32, 16, 8, 8, 2]),
    (Operator::ConvTranspose2d, &[2, 8, 16, 14, 14, 4]),
    (Operator::ConvTranspose2d, &[2, 4, 4, 33, 31, 5]),
];

/// The most multiplications of a convolution of the reduced plan: seconds on a processor.
const REDUCED_TERMS: usize = 1 << 15;

/// The convolutions that are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConvolutionPlan {
    precisions: Vec<Precision>,
    reduced: bool,
}

/// A convolution with its numbers.
#[derive(Debug, Clone)]
pub(super) struct PlannedConvolution {
    /// Input and weight.
    pub(super) call: Call,
    /// The same as the libraries define it.
    pub(super) problem: ConvolutionProblem,
    /// The kind of its numbers.
    pub(super) kind: ConvolutionNumbers,
}

/// The numbers of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConvolutionNumbers {
    /// Uniform from -1 to 1.
    Uniform,
    /// Whole numbers from -2 to 2.
    // Every sum of them is exact.
    Integers,
    /// The input is subnormal, the weight large enough that products are normal.
    Subnormal,
}

impl ConvolutionNumbers {
    /// The kinds alternate. Factors of TF32 lose bits of subnormal numbers in any case.
    fn for_index(index: usize, precision: Precision) -> Self {
        match index % 5 {
            1 => Self::Integers,
            2 if precision != Precision::Tf32 => Self::Subnormal,
            _ => Self::Uniform,
        }
    }

    /// Input or weight of this kind, from numbers between -1 and 1.
    fn tensor(self, input: usize, uniform: &HostTensor) -> HostTensor {
        let normal = uniform.element.smallest_normal();
        let values = uniform
            .values
            .iter()
            .map(|value: &f64| match (self, input) {
                (Self::Uniform, _) => *value,
                (Self::Integers, _) => (2.5 * value).trunc(),
                (Self::Subnormal, 0) => value * normal,
                (Self::Subnormal, _) => value * 1024.0,
            })
            .collect();
        HostTensor::new(uniform.shape.clone(), uniform.element, values)
    }
}

impl fmt::Display for ConvolutionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform numbers",
            Self::Integers => "integers",
            Self::Subnormal => "subnormal inputs",
        })
    }
}

impl ConvolutionPlan {
    /// Every convolution, or the small ones, in one precision or in all.
    pub(crate) fn new(reduced: bool, precision: Option<Precision>) -> Self {
        let all = [
            Precision::F32,
            Precision::Tf32,
            Precision::F16,
            Precision::Bf16,
        ];
        Self {
            precisions: precision.map_or_else(|| all.to_vec(), |precision| vec![precision]),
            reduced,
        }
    }

    /// The convolutions, the same in every run.
    pub(super) fn convolutions(&self) -> impl Iterator<Item = PlannedConvolution> {
        self.precisions
            .iter()
            .flat_map(|precision| of_precision(*precision))
            .filter(move |planned| !self.reduced || planned.terms() <= REDUCED_TERMS)
    }
}

fn of_precision(precision: Precision) -> impl Iterator<Item = PlannedConvolution> {
    let element = Element::for_precision(precision);
    SHAPES
        .iter()
        .flat_map(move |(operator, sizes)| cases(*operator, sizes, element))
        .enumerate()
        .filter_map(move |(index, case)| {
            // A shape has four variants; 3 and 5 have no common factor with 4, so that every
            // variant meets both layouts and all kinds of numbers.
            let kind = ConvolutionNumbers::for_index(index, precision);
            // Without the bias of the case, which the convolutions of the libraries do not add.
            let inputs = case.call.inputs.iter().take(2).enumerate();
            let tensors = inputs.map(|(input, uniform)| kind.tensor(input, &uniform.tensor));
            let call = Call::new(
                case.call.operator,
                tensors.collect(),
                case.call.attributes.clone(),
            );
            Some(PlannedConvolution {
                problem: ConvolutionProblem {
                    channels_last: index % 3 == 2,
                    ..ConvolutionProblem::of_call(&call, precision).ok()?
                },
                call,
                kind,
            })
        })
}

impl PlannedConvolution {
    /// The numbers of input and weight.
    pub(super) fn factors(&self) -> [&[f64]; 2] {
        [0, 1].map(|input| self.call.inputs[input].tensor.values.as_slice())
    }

    fn terms(&self) -> usize {
        let windows = if self.problem.is_transposed() {
            &self.problem.x
        } else {
            &self.problem.y
        };
        windows.iter().product::<usize>() * self.problem.taps()
    }
}

#[cfg(test)]
mod tests {
    use super::{ConvolutionNumbers, ConvolutionPlan, SHAPES};
    use testgen_types::{Operator, Precision};

    #[test]
    fn the_plan_has_every_operator_group_and_kind_of_numbers() {
        let all: Vec<_> = ConvolutionPlan::new(false, Some(Precision::F16))
            .convolutions()
            .collect();
        assert_eq!(all.len(), 4 * SHAPES.len());
        let reduced = ConvolutionPlan::new(true, Some(Precision::F16));
        for planned in [all, reduced.convolutions().collect()] {
            for operator in [
                Operator::Conv1d,
                Operator::Conv2d,
                Operator::Conv3d,
                Operator::ConvTranspose2d,
            ] {
                let of_operator = planned
                    .iter()
                    .filter(|planned| planned.problem.operator == operator);
                assert!(
                    of_operator
                        .clone()
                        .any(|planned| planned.problem.groups > 1)
                );
                assert!(
                    of_operator
                        .clone()
                        .any(|planned| planned.problem.dilation.contains(&2))
                );
            }
            assert!(planned.iter().any(|planned| planned.problem.channels_last));
            for kind in [
                ConvolutionNumbers::Uniform,
                ConvolutionNumbers::Integers,
                ConvolutionNumbers::Subnormal,
            ] {
                assert!(planned.iter().any(|planned| planned.kind == kind), "{kind}");
            }
        }
    }

    #[test]
    fn without_a_precision_there_are_all() {
        let planned = ConvolutionPlan::new(false, None).convolutions().count();
        assert_eq!(planned, 16 * SHAPES.len());
    }
}
