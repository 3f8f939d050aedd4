//! Scaling by a power of two, which changes exponents alone.

use super::property::{Relation, difference, result};
use crate::{calls::Call, cases::case::Case};
use testgen_types::{Operator, OperatorGroup};

const FACTOR: f64 = 8.0;

/// The result of scaled inputs is the scaled result.
pub(super) fn by_a_power_of_two(case: &Case) -> Option<Relation> {
    let inputs = homogeneous(&case.call)?;
    Some(Relation::new(
        "a power of two as a factor",
        case,
        move |executor, call| {
            let mut scaled = call.clone();
            for index in &inputs {
                scaled.inputs[*index]
                    .tensor
                    .values
                    .iter_mut()
                    .for_each(|value| *value *= FACTOR);
            }
            let (mut expected, mut got) = (result(executor, call)?, result(executor, &scaled)?);
            // Subnormal numbers have fewer bits than their multiples.
            let normal = expected.element.smallest_normal();
            for (expected, got) in expected.values.iter_mut().zip(&mut got.values) {
                if expected.abs() < normal {
                    (*expected, *got) = (0.0, 0.0);
                }
                *expected *= FACTOR;
            }
            Ok(difference(&expected, &got))
        },
    ))
}

/// The inputs that are multiplied together, or `None` if the result does not follow.
fn homogeneous(call: &Call) -> Option<Vec<usize>> {
    use Operator::*;
    Some(match (call.operator.group(), call.operator) {
        (_, Add | Sub | MaxBinary | MinBinary | Maximum | Minimum | AddRelu | L1Loss) => {
            vec![0, 1]
        }
        (
            _,
            Mul | Div | Neg | Abs | Relu | Dropout | Sum | Mean | Max | Min | WeightedSum | Rope
            | NllLoss,
        ) => vec![0],
        (_, Where) => vec![1, 2],
        // With one factor alone: scaling both would scale their product twice, and what is added
        // once.
        (_, Gemm | MatmulBiasRelu | MulAdd) | (OperatorGroup::Convolution, _) => vec![0, 2],
        // The values alone: a softmax does not scale with queries or keys.
        (_, ScaledDotProductAttention) => vec![2],
        (
            OperatorGroup::Matrix
            | OperatorGroup::Pooling
            | OperatorGroup::Indexing
            | OperatorGroup::Collective,
            _,
        ) => vec![0],
        (OperatorGroup::Movement, _) => (0..call.inputs.len()).collect(),
        _ => return None,
    })
}
