//! A call with one of its lengths made smaller.

use crate::{
    calls::{Call, HostTensor, row_major_strides},
    cases::dimensions::{Dimension, DimensionSlot},
};
use testgen_types::Operator;

/// The elements that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptEnd {
    First,
    Last,
}

/// The call with `length` of the elements along a dimension. It may be one that the operator does
/// not take.
pub(super) fn cut(call: &Call, dimension: &Dimension, length: usize, end: KeptEnd) -> Call {
    let mut call = call.clone();
    let start = if end == KeptEnd::First {
        0
    } else {
        dimension.length - length
    };
    for place in &dimension.places {
        match *place {
            DimensionSlot::Input {
                input,
                dim,
                outer,
                inner,
            } => {
                let whole = dimension.length * inner;
                let indices: Vec<usize> = (0..outer)
                    .flat_map(|block| {
                        (start * inner..(start + length) * inner)
                            .map(move |index| block * whole + index)
                    })
                    .collect();
                let tensor = &mut call.inputs[input].tensor;
                *tensor = selected(tensor, dim, &indices);
            }
            DimensionSlot::Shape(index) => call.attributes.shape[index] = length,
            DimensionSlot::Kernel(index) => call.attributes.kernel[index] = length,
            DimensionSlot::Groups => call.attributes.groups = length,
            // Only the range becomes shorter; the dimension that it selects from has its own entry.
            DimensionSlot::Range => {
                call.attributes.range[0] += start;
                call.attributes.range[1] = call.attributes.range[0] + length;
            }
        }
    }
    wrap_indices(&mut call);
    call
}

/// The elements of a tensor at `indices` of one dimension.
fn selected(tensor: &HostTensor, dim: usize, indices: &[usize]) -> HostTensor {
    let mut shape = tensor.shape.clone();
    shape[dim] = indices.len();
    let (own, strides) = (row_major_strides(&tensor.shape), row_major_strides(&shape));
    HostTensor {
        values: (0..shape.iter().product())
            .map(|flat| {
                let places = (0..shape.len()).map(|axis| {
                    let index = flat / strides[axis] % shape[axis];
                    (if axis == dim { indices[index] } else { index }) * own[axis]
                });
                tensor.values[places.sum::<usize>()]
            })
            .collect(),
        element: tensor.element,
        shape,
    }
}

/// Indices beyond the end of what they index start again at zero.
fn wrap_indices(call: &mut Call) {
    let dim = match call.operator {
        Operator::Embedding => 0,
        Operator::CrossEntropyLoss | Operator::NllLoss => 1,
        Operator::Gather => call.attributes.dim.unwrap_or(0),
        _ => return,
    };
    let Some(limit) = call
        .tensor(0)
        .and_then(|tensor| tensor.shape.get(dim))
        .map(|length| *length as f64)
    else {
        return;
    };
    // A remainder by 0 is NaN, which cannot be an index.
    if let Some(indices) = call.inputs.get_mut(1).filter(|_| limit > 0.0) {
        indices
            .tensor
            .values
            .iter_mut()
            .for_each(|index| *index %= limit);
    }
}
