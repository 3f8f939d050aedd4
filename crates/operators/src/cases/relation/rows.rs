//! Rows of a batch, which do not depend on their neighbours.

use super::property::{Relation, difference, result};
use crate::{
    calls::{Call, Reduction},
    cases::case::Case,
};
use testgen_types::{Operator, OperatorGroup};

/// Equal rows have equal results.
pub(super) fn equal(case: &Case) -> Option<Relation> {
    let inputs = of_rows(&case.call)?;
    Some(Relation::new("equal rows", case, move |executor, call| {
        let got = result(executor, &with_rows(call, &inputs, |count| vec![0; count]))?;
        Ok(difference(&got.rows(&vec![0; got.shape[0]]), &got))
    }))
}

/// Rows in the opposite order have the results in the opposite order.
pub(super) fn reversed(case: &Case) -> Option<Relation> {
    let inputs = of_rows(&case.call)?;
    Some(Relation::new(
        "rows in the opposite order",
        case,
        move |executor, call| {
            let expected = result(executor, call)?;
            let order: Vec<usize> = (0..expected.shape[0]).rev().collect();
            let got = result(
                executor,
                &with_rows(call, &inputs, |count| (0..count).rev().collect()),
            )?;
            Ok(difference(&expected.rows(&order), &got))
        },
    ))
}

/// The call with the rows of `inputs` in another order.
fn with_rows(call: &Call, inputs: &[usize], order: impl Fn(usize) -> Vec<usize>) -> Call {
    let mut changed = call.clone();
    for index in inputs {
        let tensor = &mut changed.inputs[*index].tensor;
        *tensor = tensor.rows(&order(tensor.shape[0]));
    }
    changed
}

/// The inputs whose first dimension is the first dimension of the result, or `None` if it has no
/// rows.
fn of_rows(call: &Call) -> Option<Vec<usize>> {
    use Operator::*;
    let along_columns = call.attributes.dim == Some(1);
    let all = || (0..call.inputs.len()).collect();
    Some(match (call.operator.group(), call.operator) {
        (_, Softmax | LogSoftmax) | (OperatorGroup::Reduction, _) => {
            // Over rows or over all elements, every result depends on all rows.
            along_columns.then(|| vec![0])?
        }
        (OperatorGroup::Elementwise | OperatorGroup::Comparison | OperatorGroup::Activation, _) => {
            all()
        }
        // A row of a collective is a rank; the other operators do not keep rows.
        (OperatorGroup::Collective, _)
        | (_, Transpose | Reshape | View | Broadcast | WeightedSum) => return None,
        (_, BatchMatmul) => vec![0, 1],
        // The rows of a factor or of a table that all rows share are not rows of the result.
        (_, Gemm) => vec![0, 2],
        (_, Embedding) => vec![1],
        (_, Gather) => along_columns.then(|| vec![0, 1])?,
        (_, Unsqueeze | Stack | Concat | Slice) => (call.attributes.dim != Some(0)).then(all)?,
        (_, ScaledDotProductAttention | AddRelu | MulAdd) | (OperatorGroup::Movement, _) => all(),
        (OperatorGroup::Loss, _) => {
            (call.attributes.reduction == Reduction::None).then(|| vec![0, 1])?
        }
        _ => vec![0],
    })
}
