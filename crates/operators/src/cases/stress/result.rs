//! The shape of a result, without computing it.

use crate::{
    calls::{Attributes, Call},
    cases::group::window::Windows,
};
use testgen_types::{Operator, OperatorGroup};

/// The shape of the result of a call on one period, or `None` if the call lacks an input.
pub(super) fn shape(call: &Call) -> Option<Vec<usize>> {
    use Operator::*;
    let first = &call.tensor(0)?.shape;
    let second = || call.tensor(1).map(|tensor| tensor.shape.as_slice());
    let attributes = &call.attributes;
    Some(match (call.operator.group(), call.operator) {
        (OperatorGroup::Reduction, _) => {
            let mut shape = first.clone();
            shape.remove(attributes.dim?);
            shape
        }
        (_, Transpose) => first.iter().rev().copied().collect(),
        (_, Matmul | BatchMatmul | Gemm | MatmulBiasRelu | MatmulBiasGelu) => {
            let mut shape = first.clone();
            *shape.last_mut()? = *second()?.last()?;
            shape
        }
        (_, WeightedSum) => vec![second()?[1]],
        (_, Embedding) => [second()?, &first[1..]].concat(),
        // A number for each row: a loss with a reduction does not repeat (`is_periodic`).
        (_, CrossEntropyLoss | NllLoss) => second()?.to_vec(),
        (_, LayoutTransform) => attributes.axes.iter().map(|axis| first[*axis]).collect(),
        (_, ConvTranspose2d) => transposed(first, second()?, attributes),
        (OperatorGroup::Convolution, _) => {
            let weight = second()?;
            let windows = Windows::new(&first[2..], &weight[2..], attributes);
            [vec![first[0], weight[0]], windows.output()].concat()
        }
        (_, AdaptiveAvgPool1d | AdaptiveAvgPool2d) => [&first[..2], &attributes.shape].concat(),
        (OperatorGroup::Pooling, _) => [
            first[..2].to_vec(),
            Windows::new(&first[2..], &attributes.kernel, attributes).output(),
        ]
        .concat(),
        _ => first.clone(),
    })
}

/// The shape of the result of a transposed convolution of `x` [batch, in, ...] with `weight` [in,
/// out / groups, ...].
fn transposed(x: &[usize], weight: &[usize], attributes: &Attributes) -> Vec<usize> {
    let lengths = (2..x.len()).map(|dim| {
        let [stride, padding, dilation, added] = [
            &attributes.stride,
            &attributes.padding,
            &attributes.dilation,
            &attributes.output_padding,
        ]
        .map(|list| list.get(dim - 2).copied());
        let extent = dilation.unwrap_or(1) * (weight[dim] - 1) + 1 + added.unwrap_or(0);
        (x[dim] - 1) * stride.unwrap_or(1) + extent - 2 * padding.unwrap_or(0)
    });
    [x[0], weight[1] * attributes.groups]
        .into_iter()
        .chain(lengths)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::shape;
    use crate::{
        calls::{Element, Reduction},
        cases::{Arithmetic, cases, odd_sizes, reference},
    };
    use testgen_types::{Operator, Precision};

    #[test]
    fn shapes_are_those_of_the_reference() {
        let mut count = 0;
        for &operator in Operator::ALL {
            for case in cases(operator, &odd_sizes(operator), Element::F32) {
                if super::super::period::is_repeatable(operator) && is_single(&case.call) {
                    let expected =
                        reference(&case.call, Arithmetic::for_precision(Precision::F32)).shape;
                    assert_eq!(
                        shape(&case.call),
                        Some(expected),
                        "{operator} of {}",
                        case.description()
                    );
                    count += 1;
                }
            }
        }
        assert!(count > 80, "{count}");
    }

    /// Whether the case is not a reduction of all elements.
    fn is_single(call: &crate::calls::Call) -> bool {
        use Operator::*;
        match call.operator {
            Sum | Mean | Max | Min => call.attributes.dim.is_some(),
            MseLoss | L1Loss | SmoothL1Loss | BceLoss | BceWithLogitsLoss | CrossEntropyLoss
            | NllLoss | KlDivLoss => call.attributes.reduction == Reduction::None,
            _ => true,
        }
    }
}
