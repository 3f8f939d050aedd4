//! Operators that move elements and compute nothing.

use crate::operators::{arguments::CallArguments, value::DeviceTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn moved<B: Ops>(of: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let (x, attributes) = (of.value(0)?, of.attributes);
    let mut shape = x.shape();
    Ok(match of.operator {
        Operator::Transpose => match *attributes.axes {
            [a, b] => x.swap(a, b),
            _ => return Err(of.refused("it exchanges two dimensions")),
        },
        Operator::LayoutTransform => contiguous::<B>(x.permute(&attributes.axes)),
        Operator::Reshape | Operator::View => x.reshape(attributes.shape.clone()),
        Operator::Squeeze => {
            shape.remove(of.dim()?);
            x.reshape(shape)
        }
        Operator::Unsqueeze => unsqueezed(x, of.dim()?),
        Operator::Broadcast => {
            let whole = [vec![1; attributes.shape.len() - shape.len()], shape].concat();
            x.reshape(whole).expand(&attributes.shape)
        }
        Operator::Concat => joined(of, of.values(), of.dim()?)?,
        Operator::Stack => {
            let dim = of.dim()?;
            joined(
                of,
                of.values()
                    .into_iter()
                    .map(|x| unsqueezed(x, dim))
                    .collect(),
                dim,
            )?
        }
        Operator::Slice => {
            let mut ranges: Vec<[usize; 3]> =
                shape.into_iter().map(|length| [0, length, 1]).collect();
            ranges[of.dim()?] = attributes.range;
            x.slice(&ranges)
        }
        Operator::Gather => x.gather(of.dim()?, of.int(1)?),
        Operator::Embedding => {
            let indices = of.value(1)?;
            let result = [indices.shape(), shape[1..].to_vec()].concat();
            let DeviceTensor::Int(rows) =
                indices.clone().reshape([indices.shape().iter().product()])
            else {
                return Err(of.refused("the indices are not integers"));
            };
            x.select(rows).reshape(result)
        }
        Operator::Contiguous => contiguous::<B>(x),
        Operator::Copy => copied(of, x)?,
        // `dropout` in evaluation is the identity.
        _ => x,
    })
}

/// The tensor in row-major order, which a reshape to one dimension requires.
fn contiguous<B: Ops>(x: DeviceTensor<B>) -> DeviceTensor<B> {
    let shape = x.shape();
    x.reshape([shape.iter().product()]).reshape(shape)
}

/// Another tensor with the same elements. burn shares memory until a tensor is written, so two
/// parts are joined, which copies.
fn copied<B: Ops>(
    of: &CallArguments<'_, B>,
    x: DeviceTensor<B>,
) -> Result<DeviceTensor<B>, CallError> {
    let shape = x.shape();
    let count = shape.iter().product::<usize>();
    let row = x.reshape([count]);
    let part = |range: [usize; 3]| row.clone().slice(&[range]);
    let middle = count / 2;
    let parts = [[0, middle, 1], [middle, count, 1]]
        .into_iter()
        .filter(|[start, end, _]| start < end)
        .map(part);
    let parts: Vec<DeviceTensor<B>> = parts.collect();
    if parts.is_empty() {
        Ok(row.reshape(shape))
    } else {
        Ok(joined(of, parts, 0)?.reshape(shape))
    }
}

fn unsqueezed<B: Ops>(x: DeviceTensor<B>, dim: usize) -> DeviceTensor<B> {
    let mut shape = x.shape();
    shape.insert(dim, 1);
    x.reshape(shape)
}

fn joined<B: Ops>(
    of: &CallArguments<'_, B>,
    parts: Vec<DeviceTensor<B>>,
    dim: usize,
) -> Result<DeviceTensor<B>, CallError> {
    DeviceTensor::concat(parts, dim).ok_or_else(|| of.refused("it joins tensors of one type"))
}
