//! Small integers, whose sums and products are exact in every order, and sums of what cancels.

use super::property::{Relation, difference, result};
use crate::{
    calls::{Attributes, Call, Element, HostTensor, Reduction},
    cases::{arithmetic::Arithmetic, case::Case, group::reference, values::XorShift64},
};
use testgen_types::{Operator, OperatorGroup, Precision};

/// The result of small integers is exact.
pub(super) fn small(case: &Case) -> Option<Relation> {
    let limits = limits(&case.call)?;
    let mut integers = case.clone();
    for (index, input) in integers.call.inputs.iter_mut().enumerate() {
        if input.tensor.element.is_float() {
            input.tensor = XorShift64::new("small", index).integers(
                &input.tensor.shape,
                input.tensor.element,
                limits,
            );
        }
    }
    Some(Relation::new(
        "small integers are exact",
        &integers,
        |executor, call| {
            // Any arithmetic: the values are exact, and only they are used.
            let reference = reference(call, Arithmetic::for_precision(Precision::F32));
            let got = result(executor, call)?;
            let mut expected = HostTensor {
                element: got.element,
                ..reference.tensor()
            };
            // The sign of a sum that is zero depends on its order.
            let mut got = got;
            [&mut expected, &mut got]
                .into_iter()
                .flat_map(|tensor| &mut tensor.values)
                .for_each(|value| *value += 0.0);
            Ok(difference(&expected, &got))
        },
    ))
}

/// The integers for which all results are exact in bf16, or `None` for operators that divide or
/// compute functions.
fn limits(call: &Call) -> Option<[i64; 2]> {
    use Operator::*;
    let summed = call.attributes.reduction != Reduction::Mean;
    match (call.operator.group(), call.operator) {
        (
            _,
            Add | Sub | Mul | MaxBinary | MinBinary | Maximum | Minimum | Neg | Abs | Relu
            | AddRelu | MulAdd,
        ) => Some([-8, 8]),
        // Scales of 2 and 0.75: bf16 has every quarter up to 64 only.
        (_, Gemm) => Some([-2, 2]),
        (OperatorGroup::Matrix | OperatorGroup::Collective, _)
        | (_, Sum | Max | Min | WeightedSum | MatmulBiasRelu) => Some([-3, 3]),
        // A window in three dimensions adds 81 products; bf16 has every integer up to 256 only.
        (OperatorGroup::Convolution, _) | (_, Prod) => Some([-1, 1]),
        (_, MaxPool1d | MaxPool2d | MaxPool3d) => Some([-8, 8]),
        // The squares of 15 differences are added.
        (_, MseLoss | L1Loss) if summed => Some([-2, 2]),
        _ => None,
    }
}

/// Numbers that cancel have the sum 0, also where partial sums are large.
pub(super) fn cancelling(operator: Operator, element: Element) -> Option<Relation> {
    let (rows, columns) = (3, 128);
    let x = positive_then_negative(rows, columns, element);
    let ones = HostTensor::new([columns, 2], element, vec![1.0; 2 * columns]);
    let call = match operator {
        Operator::Sum | Operator::Mean => Call::new(operator, vec![x], Attributes::of_dim(1)),
        Operator::Matmul => Call::new(operator, vec![x, ones], Attributes::default()),
        Operator::BatchMatmul => {
            let inputs = vec![
                x.reshaped([1, rows, columns]),
                ones.reshaped([1, columns, 2]),
            ];
            Call::new(operator, inputs, Attributes::default())
        }
        Operator::WeightedSum => {
            let weights = HostTensor::new([columns], element, vec![1.0; columns]);
            Call::new(
                operator,
                vec![weights, x.permuted(&[1, 0])],
                Attributes::default(),
            )
        }
        _ => return None,
    };
    Some(Relation::new(
        "numbers that cancel have the sum 0",
        &Case::new(call),
        |executor, call| {
            let got = result(executor, call)?;
            // NaN is not 0 either; both zeros are accepted, because the order of a sum decides the
            // sign.
            let wrong = got.values.iter().find(|value| **value != 0.0);
            Ok(wrong.map(|value| format!("the sum is {value:?}")))
        },
    ))
}

/// Rows whose second half is the first one negated, in the reverse order.
fn positive_then_negative(rows: usize, columns: usize, element: Element) -> HostTensor {
    let numbers =
        XorShift64::new("cancelling", 0).integers(&[rows, columns / 2], element, [100, 250]);
    let values = (0..rows)
        .flat_map(|row| {
            // First all positive numbers, then the negative ones: the sum in the middle, at least
            // 6400, is above 256 and 2048, up to which bf16 and f16 have every integer.
            let half = &numbers.values[row * columns / 2..(row + 1) * columns / 2];
            half.iter()
                .copied()
                .chain(half.iter().rev().map(|number| -number))
                .collect::<Vec<f64>>()
        })
        .collect();
    HostTensor::new([rows, columns], element, values)
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, Element, Operator, Precision, limits, reference};
    use crate::{
        calls::Call,
        cases::sizes::{cases, odd_sizes},
    };

    /// The largest result of a call whose first input has only `high`, and the others `high` times
    /// `sign`.
    fn largest(call: &Call, high: f64, sign: f64) -> f64 {
        let mut call = call.clone();
        for (index, input) in call.inputs.iter_mut().enumerate() {
            if input.tensor.element.is_float() {
                let value = if index == 0 { high } else { sign * high };
                input.tensor.values.fill(value);
            }
        }
        let results = reference(&call, Arithmetic::for_precision(Precision::F32)).tensor();
        results.values.into_iter().map(f64::abs).fold(0.0, f64::max)
    }

    #[test]
    fn the_largest_results_are_exact_in_bf16() {
        for operator in Operator::ALL.iter().copied() {
            // bf16 has every integer up to 256, and every quarter up to 64.
            let exact = if operator == Operator::Gemm {
                64.0
            } else {
                256.0
            };
            for case in cases(operator, &odd_sizes(operator), Element::Bf16) {
                let Some([_, high]) = limits(&case.call) else {
                    continue;
                };
                for sign in [1.0, -1.0] {
                    let largest = largest(&case.call, high as f64, sign);
                    let variant = &case.variant;
                    assert!(largest <= exact, "{operator}, {variant}: {largest}");
                }
            }
        }
    }
}
