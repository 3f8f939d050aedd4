//! Operators that compute each element from those at its position.

use crate::operators::{arguments::CallArguments, float::maximum, value::DeviceTensor};
use burn_tensor::ops::{FloatTensor, IntTensor};
use testgen_nn::backend::{Activation, Ops};
use testgen_operators::calls::CallError;
use testgen_types::Operator;

pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    use Operator::*;
    match arguments.operator {
        Add | Sub | Mul | Div | Pow | MaxBinary | MinBinary | Maximum | Minimum => {
            binary(arguments)
        }
        Neg | Abs | Sqrt | Exp | Log | Sin | Cos | Tanh | Clamp => unary(arguments),
        Where => selected(arguments),
        // In evaluation it is the identity.
        Dropout => arguments.value(0),
        _ => Err(arguments.refused("it is not an operator on single elements")),
    }
}

fn binary<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    match (arguments.value(0)?, arguments.value(1)?) {
        (DeviceTensor::Float(a), DeviceTensor::Float(b)) => {
            floats::<B>(arguments, a, b).map(DeviceTensor::Float)
        }
        (DeviceTensor::Int(a), DeviceTensor::Int(b)) => {
            ints::<B>(arguments, a, b).map(DeviceTensor::Int)
        }
        _ => Err(arguments.refused("it computes floats or integers, both of one type")),
    }
}

fn floats<B: Ops>(
    arguments: &CallArguments<'_, B>,
    a: FloatTensor<B>,
    b: FloatTensor<B>,
) -> Result<FloatTensor<B>, CallError> {
    let [a, b] = same_rank::<B>(a, b);
    Ok(match arguments.operator {
        Operator::Add => B::float_add(a, b),
        Operator::Sub => B::float_sub(a, b),
        Operator::Mul => B::float_mul(a, b),
        Operator::Div => B::float_div(a, b),
        Operator::Pow => B::float_powf(a, b),
        Operator::MaxBinary | Operator::Maximum => {
            let [a, b] = same_shape::<B>(a, b);
            maximum::<B>(a, b)
        }
        Operator::MinBinary | Operator::Minimum => {
            let [a, b] = same_shape::<B>(a, b);
            // By `maximum` of the negated tensors, because it keeps NaN.
            B::float_neg(maximum::<B>(B::float_neg(a), B::float_neg(b)))
        }
        _ => return Err(arguments.refused("it is not an operator on two tensors of floats")),
    })
}

/// Both tensors with as many dimensions.
fn same_rank<B: Ops>(a: FloatTensor<B>, b: FloatTensor<B>) -> [FloatTensor<B>; 2] {
    // burn 0.21 refuses others on GPUs.
    use crate::operators::float::{dims, reshape};
    let rank = dims::<B>(&a).len().max(dims::<B>(&b).len());
    [a, b].map(|x| {
        let shape = dims::<B>(&x);
        let missing = rank - shape.len();
        if missing == 0 {
            x
        } else {
            reshape::<B>(x, [vec![1; missing], shape].concat())
        }
    })
}

/// Both tensors in the shape of their result.
fn same_shape<B: Ops>(a: FloatTensor<B>, b: FloatTensor<B>) -> [FloatTensor<B>; 2] {
    // Selections do not broadcast.
    use crate::operators::float::{dims, expand, reshape};
    let shapes = [dims::<B>(&a), dims::<B>(&b)];
    let common = testgen_operators::calls::broadcast_shape(&[&shapes[0], &shapes[1]])
        .unwrap_or_else(|| shapes[0].clone());
    [(a, &shapes[0]), (b, &shapes[1])].map(|(x, shape)| {
        if *shape == common {
            return x;
        }
        let whole = [vec![1; common.len() - shape.len()], shape.clone()].concat();
        expand::<B>(reshape::<B>(x, whole), &common)
    })
}

fn ints<B: Ops>(
    arguments: &CallArguments<'_, B>,
    a: IntTensor<B>,
    b: IntTensor<B>,
) -> Result<IntTensor<B>, CallError> {
    Ok(match arguments.operator {
        Operator::Add => B::int_add(a, b),
        Operator::Sub => B::int_sub(a, b),
        Operator::Mul => B::int_mul(a, b),
        Operator::Div => B::int_div(a, b),
        Operator::MaxBinary | Operator::Maximum => {
            B::int_mask_where(a.clone(), B::int_lower(a, b.clone(), arguments.truths()), b)
        }
        Operator::MinBinary | Operator::Minimum => B::int_mask_where(
            a.clone(),
            B::int_greater(a, b.clone(), arguments.truths()),
            b,
        ),
        _ => return Err(arguments.refused("it is not an operator on two tensors of integers")),
    })
}

fn unary<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let [low, high] = arguments.attributes.limits;
    match arguments.value(0)? {
        DeviceTensor::Float(x) => Ok(DeviceTensor::Float(match arguments.operator {
            Operator::Neg => B::float_neg(x),
            Operator::Abs => B::float_abs(x),
            Operator::Sqrt => B::float_sqrt(x),
            Operator::Exp => B::float_exp(x),
            Operator::Log => B::float_log(x),
            Operator::Sin => B::float_sin(x),
            Operator::Cos => B::float_cos(x),
            Operator::Tanh => B::activation_op(x, Activation::Tanh),
            _ => B::float_clamp(x, low.into(), high.into()),
        })),
        DeviceTensor::Int(x) => Ok(DeviceTensor::Int(match arguments.operator {
            Operator::Neg => B::int_neg(x),
            Operator::Abs => B::int_abs(x),
            Operator::Clamp => B::int_clamp(x, (low as i64).into(), (high as i64).into()),
            _ => return Err(arguments.refused("it does not compute integers")),
        })),
        DeviceTensor::Bool(_) => Err(arguments.refused("it does not compute booleans")),
    }
}

fn selected<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let selected = arguments
        .value(1)?
        .where_else(arguments.bool(0)?, arguments.value(2)?);
    selected.ok_or_else(|| arguments.refused("both tensors must be of one type"))
}

pub(crate) fn compared<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let truths = arguments.truths();
    Ok(DeviceTensor::Bool(
        match (arguments.value(0)?, arguments.value(1)?) {
            (DeviceTensor::Float(a), DeviceTensor::Float(b)) => {
                let [a, b] = same_rank::<B>(a, b);
                match arguments.operator {
                    Operator::Eq => B::float_equal(a, b, truths),
                    Operator::Ne => B::float_not_equal(a, b, truths),
                    Operator::Le => B::float_lower_equal(a, b, truths),
                    Operator::Gt => B::float_greater(a, b, truths),
                    Operator::Ge => B::float_greater_equal(a, b, truths),
                    _ => B::float_lower(a, b, truths),
                }
            }
            (DeviceTensor::Int(a), DeviceTensor::Int(b)) => match arguments.operator {
                Operator::Eq => B::int_equal(a, b, truths),
                Operator::Ne => B::int_not_equal(a, b, truths),
                Operator::Le => B::int_lower_equal(a, b, truths),
                Operator::Gt => B::int_greater(a, b, truths),
                Operator::Ge => B::int_greater_equal(a, b, truths),
                _ => B::int_lower(a, b, truths),
            },
            (DeviceTensor::Bool(a), DeviceTensor::Bool(b)) => match arguments.operator {
                Operator::Eq => B::bool_equal(a, b),
                Operator::Ne => B::bool_not_equal(a, b),
                _ => return Err(arguments.refused("booleans have no order")),
            },
            _ => return Err(arguments.refused("both tensors must be of one type")),
        },
    ))
}
