//! The problem of cuDNN and MIOpen that a call of an operator is.

use crate::{
    primitive::{
        PoolKind, PoolWindows, PrimitiveActivation, PrimitiveKind, PrimitiveProblem,
        PrimitiveReduction,
    },
    primitive_error::{inputs, unsupported},
    primitive_norm::{batch_norm, norm},
};
use testgen_operators::calls::{Attributes, Call, CallError, HostTensor};
use testgen_types::Operator;

/// The lengths of an input and of its result.
type TensorLengths = [Vec<usize>; 2];

impl PrimitiveProblem {
    /// The problem of a call.
    ///
    /// # Errors
    ///
    /// The inputs are not of the operator, or no library has the operator with these arguments.
    pub fn of_call(call: &Call) -> Result<Self, CallError> {
        let x = call.tensor(0).ok_or_else(|| inputs(call, "a tensor"))?;
        if !x.element.is_float() {
            return Err(unsupported(
                call,
                "the library computes floating-point numbers",
            ));
        }
        let problem = |kind, [from, to]: [Vec<usize>; 2], shape| Self {
            element: x.element,
            kind,
            x: from,
            y: to,
            parameters: Vec::new(),
            shape,
        };
        if let Some(activation) = activation(call.operator) {
            // Each element is computed alone, so the shape does not matter.
            let lengths = vec![1, 1, 1, x.len()];
            let kind = PrimitiveKind::Activation(activation);
            return Ok(problem(kind, [lengths.clone(), lengths], x.shape.clone()));
        }
        if let Some(reduction) = reduction(call.operator) {
            let (lengths, shape) = reduced(call, x)?;
            return Ok(problem(PrimitiveKind::Reduction(reduction), lengths, shape));
        }
        match call.operator {
            Operator::Softmax | Operator::LogSoftmax => {
                let lengths = around(call, x, call.attributes.dim.unwrap_or(0))?;
                let logarithm = call.operator == Operator::LogSoftmax;
                let kind = PrimitiveKind::Softmax { logarithm };
                Ok(problem(kind, [lengths.clone(), lengths], x.shape.clone()))
            }
            Operator::BatchNorm => batch_norm(call, x),
            Operator::LayerNorm | Operator::GroupNorm | Operator::RmsNorm => norm(call, x),
            _ => {
                let (windows, lengths, shape) = pooled(call, x)?;
                Ok(problem(PrimitiveKind::Pool(windows), lengths, shape))
            }
        }
    }
}

const fn activation(operator: Operator) -> Option<PrimitiveActivation> {
    match operator {
        Operator::Relu => Some(PrimitiveActivation::Relu),
        Operator::Relu6 => Some(PrimitiveActivation::Relu6),
        Operator::Sigmoid => Some(PrimitiveActivation::Sigmoid),
        Operator::Tanh => Some(PrimitiveActivation::Tanh),
        Operator::Silu => Some(PrimitiveActivation::Silu),
        _ => None,
    }
}

const fn reduction(operator: Operator) -> Option<PrimitiveReduction> {
    match operator {
        Operator::Sum => Some(PrimitiveReduction::Sum),
        Operator::Prod => Some(PrimitiveReduction::Product),
        Operator::Min => Some(PrimitiveReduction::Min),
        Operator::Max => Some(PrimitiveReduction::Max),
        Operator::Mean => Some(PrimitiveReduction::Mean),
        _ => None,
    }
}

/// Four lengths, the second of which is the dimension `dim`: everything before it, the dimension,
/// everything after it, and 1.
fn around(call: &Call, x: &HostTensor, dim: usize) -> Result<Vec<usize>, CallError> {
    let length = *x
        .shape
        .get(dim)
        .ok_or_else(|| inputs(call, "a dimension of the input"))?;
    let before = x.shape[..dim].iter().product();
    let after = x.shape[dim + 1..].iter().product();
    // Second, because both libraries normalise over the channels of batch, channels, height, width.
    Ok(vec![before, length, after, 1])
}

/// The lengths of input and result of a reduction, and the shape of the result.
fn reduced(call: &Call, x: &HostTensor) -> Result<(TensorLengths, Vec<usize>), CallError> {
    let (from, shape) = match call.attributes.dim {
        Some(dim) => {
            let lengths = around(call, x, dim)?;
            let mut shape = x.shape.clone();
            shape.remove(dim);
            (lengths, shape)
        }
        None => (vec![1, x.len(), 1, 1], Vec::new()),
    };
    // The libraries refuse lengths of zero, so that they do not even return the sum 0.
    if from[1] == 0 {
        return Err(unsupported(call, "a reduction of no elements"));
    }
    let to = vec![from[0], 1, from[2], 1];
    Ok(([from, to], shape))
}

/// The windows of a pool, the lengths of input and result, and the shape of the result.
fn pooled(
    call: &Call,
    x: &HostTensor,
) -> Result<(PoolWindows, TensorLengths, Vec<usize>), CallError> {
    let attributes = &call.attributes;
    let kind = pool_kind(call.operator, attributes)
        .ok_or_else(|| unsupported(call, "no library computes this operator"))?;
    if attributes.dilation.iter().any(|dilation| *dilation != 1) {
        return Err(unsupported(call, "pools of the library have no dilation"));
    }
    // A pool of one dimension has a second one of length 1, as PyTorch calls the libraries.
    let rank = attributes.kernel.len();
    if !(1..=3).contains(&rank) || x.shape.len() != rank + 2 || attributes.kernel.contains(&0) {
        return Err(inputs(call, "a window for each spatial dimension"));
    }
    let given = |given: &[usize], default: usize| {
        let one = |dimension: usize| given.get(dimension).copied().unwrap_or(default);
        (0..rank).map(one).collect::<Vec<usize>>()
    };
    let mut windows = PoolWindows {
        kind,
        lengths: attributes.kernel.clone(),
        padding: given(&attributes.padding, 0),
        stride: given(&attributes.stride, 1),
    };
    let (mut from, mut to) = (x.shape.clone(), x.shape[..2].to_vec());
    to.extend((0..rank).map(|dimension| windows.count(dimension, from[2 + dimension])));
    let shape = to.clone();
    if rank == 1 {
        from.insert(2, 1);
        to.insert(2, 1);
        windows.lengths.insert(0, 1);
        windows.padding.insert(0, 0);
        windows.stride.insert(0, 1);
    }
    Ok((windows, [from, to], shape))
}

fn pool_kind(operator: Operator, attributes: &Attributes) -> Option<PoolKind> {
    match operator {
        Operator::MaxPool1d | Operator::MaxPool2d | Operator::MaxPool3d => Some(PoolKind::Max),
        Operator::AvgPool1d | Operator::AvgPool2d | Operator::AvgPool3d => {
            Some(if attributes.count_include_pad {
                PoolKind::MeanWithPadding
            } else {
                PoolKind::Mean
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
