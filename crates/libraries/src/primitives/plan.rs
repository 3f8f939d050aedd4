//! The calls of softmax, activations, pools, reductions and norms that are computed, in every type.

use super::further_reduction::{further_reductions, further_reference};
use crate::{
    primitive::{PrimitiveKind, PrimitiveProblem, PrimitiveReduction},
    report::NamedComputation,
};
use testgen_operators::{
    calls::{Call, CallError, Element, HostTensor},
    cases::{Arithmetic, Case, Reference, cases, reference},
};
use testgen_types::{Operator, OperatorGroup, Precision};

/// Rows and columns: short lines, lines that are not a multiple of a block, and one of thousands.
const MATRICES: &[&[usize]] = &[&[3, 7], &[33, 65], &[7, 300], &[5, 1000], &[2, 4097]];
/// Batch, channels, spatial lengths, window.
const POOLS_1D: &[&[usize]] = &[&[2, 3, 19, 3], &[1, 8, 257, 5], &[4, 2, 64, 2]];
const POOLS_2D: &[&[usize]] = &[&[2, 3, 9, 11, 3], &[1, 4, 33, 31, 2], &[2, 16, 14, 14, 3]];
const POOLS_3D: &[&[usize]] = &[&[1, 2, 7, 8, 9, 3], &[2, 3, 5, 6, 7, 2]];

/// Batch, channels, positions of batch norms; of one position, the library has two modes.
const CHANNELS: &[&[usize]] = &[&[2, 3, 7], &[4, 33, 65], &[7, 5, 1], &[1, 64, 257]];

/// Batch, groups, channels of a group, positions. MIOpen 3.3 has a kernel for 32 groups or more.
const GROUPS: &[&[usize]] = &[
    &[8, 4, 3, 5],
    &[16, 2, 7, 65],
    &[1, 32, 2, 33],
    &[2, 2, 3, 7],
];

/// The factor of large numbers: from -96 to 96, beyond the largest exponential of f32.
const LARGE: f64 = 16.0;

/// The calls that are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrimitivePlan {
    operators: Vec<Operator>,
    precisions: Vec<Precision>,
}

/// A call with its numbers.
#[derive(Debug, Clone)]
pub(super) struct PlannedPrimitive {
    pub(super) call: Call,
    /// The precision of its bound.
    pub(super) precision: Precision,
    /// Whether its numbers are so large that exponentials overflow.
    pub(super) is_large: bool,
    /// The reduction that is computed in place of the operator.
    reduction: Option<PrimitiveReduction>,
    variant: String,
}

impl PrimitivePlan {
    /// The calls of these operators, in one precision or in all.
    pub(crate) fn new(operators: &[Operator], precision: Option<Precision>) -> Self {
        // There are no products of factors that could be rounded to TF32.
        let all = [Precision::F32, Precision::F16, Precision::Bf16];
        let is_planned = |one: &Precision| precision.is_none_or(|precision| precision == *one);
        Self {
            operators: operators
                .iter()
                .copied()
                .filter(|operator| !sizes(*operator).is_empty())
                .collect(),
            precisions: all.into_iter().filter(is_planned).collect(),
        }
    }

    /// The calls, the same in every run.
    pub(super) fn calls(&self) -> impl Iterator<Item = PlannedPrimitive> {
        self.precisions.iter().flat_map(move |precision| {
            let operators = self.operators.iter();
            operators.flat_map(move |operator| of_operator(*operator, *precision))
        })
    }
}

/// The sizes of an operator; none of an operator that is not planned here.
fn sizes(operator: Operator) -> &'static [&'static [usize]] {
    match (operator, operator.group()) {
        (Operator::MaxPool1d | Operator::AvgPool1d, _) => POOLS_1D,
        (Operator::MaxPool2d | Operator::AvgPool2d, _) => POOLS_2D,
        (Operator::MaxPool3d | Operator::AvgPool3d, _) => POOLS_3D,
        // Products of thousands of numbers may leave the range of f32 on the way.
        (Operator::Prod, _) => &MATRICES[..4],
        (Operator::BatchNorm, _) => CHANNELS,
        (Operator::GroupNorm, _) => GROUPS,
        (Operator::Tanh | Operator::LayerNorm | Operator::RmsNorm, _)
        | (_, OperatorGroup::Activation | OperatorGroup::Reduction) => MATRICES,
        _ => &[],
    }
}

fn of_operator(operator: Operator, precision: Precision) -> Vec<PlannedPrimitive> {
    let element = Element::for_precision(precision);
    let all = sizes(operator)
        .iter()
        .flat_map(|sizes| cases(operator, sizes, element));
    let is_softmax = matches!(operator, Operator::Softmax | Operator::LogSoftmax);
    let is_norm = matches!(
        operator,
        Operator::LayerNorm | Operator::GroupNorm | Operator::RmsNorm
    );
    let planned = |case: Case, is_large: bool| PlannedPrimitive {
        call: if is_large {
            scaled(&case.call)
        } else {
            case.call
        },
        precision,
        is_large,
        reduction: None,
        variant: case.variant,
    };
    all.flat_map(|case| {
        let large = is_softmax.then(|| planned(case.clone(), true));
        let without = is_norm.then(|| planned(plain(&case), false));
        let computed = planned(case, false);
        let further = further_reductions(operator)
            .iter()
            .map(|reduction| PlannedPrimitive {
                reduction: Some(*reduction),
                ..computed.clone()
            })
            .collect::<Vec<PlannedPrimitive>>();
        [Some(computed), large, without]
            .into_iter()
            .flatten()
            .chain(further)
    })
    .collect()
}

/// A norm with weights of 1 and biases of 0, which libraries also compute without them.
fn plain(case: &Case) -> Case {
    let mut plain = case.clone();
    for (index, input) in plain.call.inputs.iter_mut().enumerate().skip(1) {
        input.tensor.values.fill(if index == 1 { 1.0 } else { 0.0 });
    }
    let variant = [case.variant.as_str(), "plain"];
    let named = variant.into_iter().filter(|part| !part.is_empty());
    plain.variant = named.collect::<Vec<&str>>().join(", ");
    plain
}

/// The call with larger inputs; a power of two keeps every bit of them.
fn scaled(call: &Call) -> Call {
    let tensors = call.inputs.iter().map(|input| {
        let tensor = &input.tensor;
        let values = tensor.values.iter().map(|value| value * LARGE).collect();
        HostTensor::new(tensor.shape.clone(), tensor.element, values)
    });
    Call::new(call.operator, tensors.collect(), call.attributes.clone())
}

impl PlannedPrimitive {
    /// The problem that the library computes.
    ///
    /// # Errors
    ///
    /// No library has the operator with these arguments.
    pub(super) fn problem(&self) -> Result<PrimitiveProblem, CallError> {
        let problem = PrimitiveProblem::of_call(&self.call)?;
        Ok(match self.reduction {
            Some(reduction) => PrimitiveProblem {
                kind: PrimitiveKind::Reduction(reduction),
                ..problem
            },
            None => problem,
        })
    }

    /// The result with its bounds.
    pub(super) fn reference(&self) -> Reference {
        let arithmetic = Arithmetic::for_precision(self.precision);
        match self.reduction {
            Some(reduction) => further_reference(reduction, &self.call, arithmetic),
            None => reference(&self.call, arithmetic),
        }
    }

    /// Its names in reports.
    pub(super) fn computation(&self) -> NamedComputation {
        let name = self.reduction.map_or_else(
            || self.call.operator.to_string(),
            |reduction| reduction.as_str().to_owned(),
        );
        let parts = [
            format!("{name} {}", self.call.shapes()),
            self.variant.clone(),
            if self.is_large {
                "large numbers".to_owned()
            } else {
                String::new()
            },
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        NamedComputation {
            arithmetic: self.precision.to_string(),
            variant: name,
            description: parts.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PrimitivePlan;
    use crate::library::LibraryName;
    use testgen_types::{Operator, OperatorGroup, Precision};

    #[test]
    fn the_plan_has_every_operator_in_every_type_without_tf32() {
        for library in [LibraryName::Cudnn, LibraryName::Miopen] {
            assert_planned(library.operators());
        }
    }

    #[test]
    fn a_sum_has_norms_and_a_maximum_the_largest_magnitude() {
        let plan = PrimitivePlan::new(&[Operator::Sum, Operator::Max], Some(Precision::F16));
        let count = |name: &str| {
            let planned = plan.calls().filter(|it| it.computation().variant == name);
            planned.count()
        };
        assert!(count("sum") > 0);
        assert_eq!(["norm1", "norm2"].map(count), [count("sum"); 2]);
        assert_eq!(count("amax"), count("max"));
    }

    fn assert_planned(operators: &[Operator]) {
        let all = PrimitivePlan::new(operators, None);
        let planned = operators
            .iter()
            .filter(|operator| operator.group() != OperatorGroup::Convolution);
        for operator in planned {
            for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
                let is_planned = all.calls().any(|planned| {
                    planned.call.operator == *operator && planned.precision == precision
                });
                assert!(is_planned, "{operator} {precision}");
            }
        }
        let tf32 = PrimitivePlan::new(operators, Some(Precision::Tf32));
        assert_eq!(tf32.calls().count(), 0);
        assert!(
            all.calls()
                .all(|planned| !planned.call.inputs[0].tensor.is_empty())
        );
    }
}
