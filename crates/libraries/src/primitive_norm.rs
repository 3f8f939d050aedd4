//! The problems of norms: their lengths and their parameters.

use crate::{
    primitive::{PrimitiveKind, PrimitiveProblem},
    primitive_error::inputs,
};
use testgen_operators::calls::{Call, CallError, HostTensor};

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
