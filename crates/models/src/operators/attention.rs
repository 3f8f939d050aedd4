//! Attention and rotary positions, as models compute them.

use crate::operators::{
    arguments::CallArguments,
    float::{dims, expand, full, reshape},
    value::DeviceTensor,
};
use burn_tensor::{TensorData, ops::FloatTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        Rope => rotated(arguments),
        ScaledDotProductAttention => attended(arguments),
        WeightedSum => weighted_sum(arguments),
        _ => Err(arguments.refused("it is not a part of attention")),
    }
}

fn rotated<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    Ok(DeviceTensor::Float(B::rotate_op(
        arguments.float(0)?,
        arguments.float(1)?,
        arguments.float(2)?,
    )))
}

/// softmax(q k^T / sqrt(width) + mask) v, with keys and values repeated for groups of heads.
fn attended<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let q = arguments.float(0)?;
    let shape = dims::<B>(&q);
    let [k, v] = [arguments.float(1)?, arguments.float(2)?].map(|x| repeated::<B>(x, shape[1]));
    let keys = dims::<B>(&k)[2];
    // The default of `scaled_dot_product_attention`.
    let scale = 1.0 / (shape[3] as f64).sqrt();
    let scores = B::matmul_op(q, B::float_swap_dims(k, 2, 3));
    let weights = B::masked_softmax_op(scores, scale, mask::<B>(arguments, shape[2], keys)?);
    Ok(DeviceTensor::Float(B::matmul_op(weights, v)))
}

fn weighted_sum<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let (weights, x) = (arguments.float(0)?, arguments.float(1)?);
    let [rows, columns] = [0, 1].map(|dimension| dims::<B>(&x)[dimension]);
    let sum = B::matmul_op(reshape::<B>(weights, [1, rows]), x);
    Ok(DeviceTensor::Float(reshape::<B>(sum, [columns])))
}

/// [batch, groups, seq, width] with each group repeated for its heads.
fn repeated<B: Ops>(x: FloatTensor<B>, heads: usize) -> FloatTensor<B> {
    let shape = dims::<B>(&x);
    let (groups, rest) = (shape[1], [shape[2], shape[3]]);
    if groups == heads {
        return x;
    }
    // The heads of a group are neighbours, as `enable_gqa` of PyTorch repeats them.
    let split = reshape::<B>(x, [shape[0], groups, 1, rest[0], rest[1]]);
    let wide = expand::<B>(split, &[shape[0], groups, heads / groups, rest[0], rest[1]]);
    reshape::<B>(wide, [shape[0], heads, rest[0], rest[1]])
}

/// Minus infinity for each key that a query does not see, f32.
fn mask<B: Ops>(
    arguments: &CallArguments<'_, B>,
    queries: usize,
    keys: usize,
) -> Result<Option<FloatTensor<B>>, CallError> {
    if arguments.attributes.causal {
        let values: Vec<f32> = (0..queries * keys)
            .map(|index| {
                // As `is_causal` of PyTorch: the first query sees the first key alone, also where
                // there are more keys than queries.
                if index % keys > index / keys {
                    f32::NEG_INFINITY
                } else {
                    0.0
                }
            })
            .collect();
        let data = TensorData::new(values, [1, 1, queries, keys]);
        return Ok(Some(B::float_from_data(data, arguments.device)));
    }
    let Ok(mask) = arguments.value(3) else {
        return Ok(None);
    };
    let (seen, shape) = (arguments.bool(3)?, mask.shape());
    let single = arguments.single(0)?;
    let [zeros, hidden] = [0.0, f64::NEG_INFINITY].map(|number| full::<B>(&shape, number, &single));
    Ok(Some(B::float_mask_where(hidden, seen, zeros)))
}
