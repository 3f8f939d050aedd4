//! Operators that move elements and compute nothing.

use crate::operators::{arguments::CallArguments, value::DeviceTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn moved<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let (x, attributes) = (arguments.value(0)?, arguments.attributes);
    let mut shape = x.shape();
    Ok(match arguments.operator {
        Operator::Transpose => match *attributes.axes {
            [a, b] => x.swap(a, b),
            _ => return Err(arguments.refused("it exchanges two dimensions")),
        },
        // burn permutes by strides alone, and the operator is about the order in memory.
        Operator::LayoutTransform => contiguous::<B>(x.permute(&attributes.axes)),
        Operator::Reshape | Operator::View => x.reshape(attributes.shape.clone()),
        Operator::Squeeze => {
            shape.remove(arguments.dim()?);
            x.reshape(shape)
        }
        Operator::Unsqueeze => unsqueezed(x, arguments.dim()?),
        Operator::Broadcast => {
            let whole = [vec![1; attributes.shape.len() - shape.len()], shape].concat();
            x.reshape(whole).expand(&attributes.shape)
        }
        Operator::Concat => joined(arguments, arguments.values(), arguments.dim()?)?,
        Operator::Stack => {
            let dim = arguments.dim()?;
            let parts = arguments.values().into_iter();
            joined(arguments, parts.map(|x| unsqueezed(x, dim)).collect(), dim)?
        }
        Operator::Slice => {
            let mut ranges: Vec<[usize; 3]> =
                shape.into_iter().map(|length| [0, length, 1]).collect();
            ranges[arguments.dim()?] = attributes.range;
            x.slice(&ranges)
        }
        Operator::Gather => x.gather(arguments.dim()?, arguments.int(1)?),
        Operator::Embedding => embedded(arguments, x)?,
        Operator::Contiguous => contiguous::<B>(x),
        Operator::Copy => copied(arguments, x)?,
        _ => return Err(arguments.refused("it moves no elements")),
    })
}

/// The rows of `x` that the second argument names, in its shape.
fn embedded<B: Ops>(
    arguments: &CallArguments<'_, B>,
    x: DeviceTensor<B>,
) -> Result<DeviceTensor<B>, CallError> {
    let indices = arguments.value(1)?;
    let result = [&indices.shape()[..], &x.shape()[1..]].concat();
    let DeviceTensor::Int(rows) = indices.clone().reshape([indices.shape().iter().product()])
    else {
        return Err(arguments.refused("the indices are not integers"));
    };
    Ok(x.select(rows).reshape(result))
}

/// The tensor in row-major order, which a reshape to one dimension requires.
fn contiguous<B: Ops>(x: DeviceTensor<B>) -> DeviceTensor<B> {
    let shape = x.shape();
    x.reshape([shape.iter().product()]).reshape(shape)
}

/// Another tensor with the same elements.
fn copied<B: Ops>(
    arguments: &CallArguments<'_, B>,
    x: DeviceTensor<B>,
) -> Result<DeviceTensor<B>, CallError> {
    let shape = x.shape();
    let count = shape.iter().product::<usize>();
    let row = x.reshape([count]);
    // burn shares memory until a tensor is written, so two parts are joined, which copies.
    let middle = count / 2;
    let parts = [[0, middle, 1], [middle, count, 1]]
        .into_iter()
        .filter(|[start, end, _]| start < end)
        .map(|range| row.clone().slice(&[range]));
    let parts: Vec<DeviceTensor<B>> = parts.collect();
    if parts.is_empty() {
        Ok(row.reshape(shape))
    } else {
        Ok(joined(arguments, parts, 0)?.reshape(shape))
    }
}

fn unsqueezed<B: Ops>(x: DeviceTensor<B>, dim: usize) -> DeviceTensor<B> {
    let mut shape = x.shape();
    shape.insert(dim, 1);
    x.reshape(shape)
}

fn joined<B: Ops>(
    arguments: &CallArguments<'_, B>,
    parts: Vec<DeviceTensor<B>>,
    dim: usize,
) -> Result<DeviceTensor<B>, CallError> {
    DeviceTensor::concat(parts, dim)
        .ok_or_else(|| arguments.refused("it joins tensors of one type"))
}
