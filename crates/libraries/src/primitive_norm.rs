//! The problems of norms: their lengths and their parameters.

use crate::{
    primitive::{PrimitiveKind, PrimitiveNorm, PrimitiveNormKind, PrimitiveProblem},
    primitive_error::inputs,
};
use testgen_operators::calls::{Call, CallError, HostTensor};
use testgen_types::Operator;

/// The problem of a batch norm of `x`, whose dimensions after the second one become one.
pub(crate) fn batch_norm(call: &Call, x: &HostTensor) -> Result<PrimitiveProblem, CallError> {
    let channels = channels(call, x)?;
    let positions = x.shape[2..].iter().product();
    let lengths = vec![x.shape[0], channels, positions, 1];
    Ok(PrimitiveProblem {
        element: x.element,
        kind: PrimitiveKind::BatchNorm {
            epsilon: call.attributes.eps,
        },
        x: lengths.clone(),
        y: lengths,
        parameters: parameters(call, 4, channels)?,
        shape: x.shape.clone(),
    })
}

/// The problem of a norm of `x` by the statistics of its elements.
pub(crate) fn norm(call: &Call, x: &HostTensor) -> Result<PrimitiveProblem, CallError> {
    let (kind, lengths) = match call.operator {
        Operator::GroupNorm => groups(call, x)?,
        Operator::RmsNorm => (PrimitiveNormKind::RootMeanSquare, rows(call, x)?),
        _ => (PrimitiveNormKind::Layer, rows(call, x)?),
    };
    let count = if kind == PrimitiveNormKind::RootMeanSquare {
        1
    } else {
        2
    };
    Ok(PrimitiveProblem {
        element: x.element,
        parameters: parameters(call, count, lengths[1])?,
        kind: PrimitiveKind::Norm(PrimitiveNorm {
            kind,
            epsilon: call.attributes.eps,
            is_plain: is_plain(call, count),
        }),
        x: lengths.clone(),
        y: lengths,
        shape: x.shape.clone(),
    })
}

/// Batch, channels, and everything after them as one dimension.
fn groups(call: &Call, x: &HostTensor) -> Result<(PrimitiveNormKind, Vec<usize>), CallError> {
    let (channels, groups) = (channels(call, x)?, call.attributes.groups);
    if channels.checked_rem(groups) != Some(0) {
        return Err(inputs(call, "groups of the same number of channels"));
    }
    let lengths = vec![x.shape[0], channels, x.shape[2..].iter().product()];
    Ok((PrimitiveNormKind::Group { groups }, lengths))
}

/// The last dimension, and everything before it as one dimension.
fn rows(call: &Call, x: &HostTensor) -> Result<Vec<usize>, CallError> {
    let (columns, before) = x
        .shape
        .split_last()
        .ok_or_else(|| inputs(call, "an input of one dimension or more"))?;
    Ok(vec![before.iter().product(), *columns])
}

/// Whether the first parameter is 1 and the second one, if there is one, 0.
fn is_plain(call: &Call, count: usize) -> bool {
    let is_all = |index: usize, number: f64| {
        let tensor = call.tensor(index);
        tensor.is_some_and(|tensor| tensor.values.iter().all(|value| *value == number))
    };
    is_all(1, 1.0) && (count == 1 || is_all(2, 0.0))
}

/// The length of the second dimension of `x`.
fn channels(call: &Call, x: &HostTensor) -> Result<usize, CallError> {
    let second = x.shape.get(1).copied();
    second.ok_or_else(|| inputs(call, "an input of two dimensions or more"))
}

/// The lengths of `count` parameters, each of which must have a number for every channel.
fn parameters(call: &Call, count: usize, channels: usize) -> Result<Vec<usize>, CallError> {
    let has_number_each = |index: usize| {
        let tensor = call.tensor(index);
        tensor.is_some_and(|tensor| tensor.element.is_float() && tensor.len() == channels)
    };
    if (1..=count).all(has_number_each) {
        Ok(vec![channels; count])
    } else {
        Err(inputs(call, "parameters with a number for each channel"))
    }
}
