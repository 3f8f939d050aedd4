//! Losses, in f32.

use crate::operators::{
    activation::log_softmax,
    arguments::CallArguments,
    float::{dims, full, maximum, reshape},
    value::DeviceTensor,
};
use burn_tensor::{Shape, ops::FloatTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::{CallError, Reduction};
use testgen_types::Operator;

pub(crate) fn loss<B: Ops>(arguments: &CallArguments<'_, B>) -> Result<DeviceTensor<B>, CallError> {
    let losses = match arguments.operator {
        Operator::CrossEntropyLoss => {
            of_classes::<B>(arguments, log_softmax::<B>(arguments.float(0)?, 1))?
        }
        Operator::NllLoss => of_classes::<B>(arguments, arguments.single(0)?)?,
        _ => of_elements::<B>(arguments, arguments.single(0)?, arguments.single(1)?),
    };
    let reduced = match arguments.attributes.reduction {
        Reduction::None => losses,
        Reduction::Sum => reshape::<B>(B::float_sum(losses), [1]),
        Reduction::Mean => reshape::<B>(B::float_mean(losses), [1]),
    };
    Ok(arguments.rounded(reduced))
}

/// The negative log probability of the class of each row.
fn of_classes<B: Ops>(
    arguments: &CallArguments<'_, B>,
    logs: FloatTensor<B>,
) -> Result<FloatTensor<B>, CallError> {
    let rows = dims::<B>(&logs)[0];
    let classes = B::int_reshape(arguments.int(1)?, Shape::from(vec![rows, 1]));
    Ok(B::float_neg(reshape::<B>(
        B::float_gather(1, logs, classes),
        [rows],
    )))
}

fn of_elements<B: Ops>(
    arguments: &CallArguments<'_, B>,
    a: FloatTensor<B>,
    b: FloatTensor<B>,
) -> FloatTensor<B> {
    match arguments.operator {
        Operator::MseLoss => {
            let difference = B::float_sub(a.clone(), b.clone());
            B::float_mul(difference.clone(), difference)
        }
        Operator::L1Loss => B::float_abs(B::float_sub(a.clone(), b.clone())),
        Operator::SmoothL1Loss => {
            let distance = B::float_abs(B::float_sub(a.clone(), b.clone()));
            smooth_l1(arguments, distance)
        }
        Operator::BceLoss => cross_entropy::<B>(&a, &b),
        Operator::BceWithLogitsLoss => cross_entropy_of_logits::<B>(&a, &b),
        _ => divergence(arguments, &a, &b),
    }
}

fn smooth_l1<B: Ops>(arguments: &CallArguments<'_, B>, distance: FloatTensor<B>) -> FloatTensor<B> {
    let square = B::float_mul_scalar(B::float_mul(distance.clone(), distance.clone()), 0.5.into());
    // PyTorch's default of `beta` is 1.
    let near = B::float_lower_elem(distance.clone(), 1.0.into(), arguments.truths());
    B::float_mask_where(B::float_sub_scalar(distance, 0.5.into()), near, square)
}

/// The binary cross entropy of probabilities `a` and targets `b`.
fn cross_entropy<B: Ops>(a: &FloatTensor<B>, b: &FloatTensor<B>) -> FloatTensor<B> {
    let other = B::float_mul(complement::<B>(b), limited_log::<B>(complement::<B>(a)));
    let log = limited_log::<B>(a.clone());
    B::float_neg(B::float_add(B::float_mul(b.clone(), log), other))
}

/// The binary cross entropy of logits `a` and targets `b`.
fn cross_entropy_of_logits<B: Ops>(a: &FloatTensor<B>, b: &FloatTensor<B>) -> FloatTensor<B> {
    // The exponent is never positive, so that no large logit overflows.
    let tail = B::float_log(B::float_add_scalar(
        B::float_exp(B::float_neg(B::float_abs(a.clone()))),
        1.0.into(),
    ));
    let positive = maximum::<B>(B::float_neg(a.clone()), filled::<B>(0.0, a));
    let tail = B::float_add(tail, positive);
    B::float_add(B::float_mul(complement::<B>(b), a.clone()), tail)
}

/// PyTorch's `kl_div` of log probabilities `a` and targets `b`.
fn divergence<B: Ops>(
    arguments: &CallArguments<'_, B>,
    a: &FloatTensor<B>,
    b: &FloatTensor<B>,
) -> FloatTensor<B> {
    let product = B::float_mul(b.clone(), B::float_sub(B::float_log(b.clone()), a.clone()));
    // The product of a target of 0 with its logarithm is 0 in PyTorch, and NaN if it is computed.
    let empty = B::float_equal_elem(b.clone(), 0.0.into(), arguments.truths());
    B::float_mask_where(product, empty, filled::<B>(0.0, a))
}

/// A tensor of one number, in the shape and the type of `x`.
fn filled<B: Ops>(number: f64, x: &FloatTensor<B>) -> FloatTensor<B> {
    full::<B>(&dims::<B>(x), number, x)
}

/// 1 - x.
fn complement<B: Ops>(x: &FloatTensor<B>) -> FloatTensor<B> {
    B::float_sub(filled::<B>(1.0, x), x.clone())
}

/// The logarithm.
fn limited_log<B: Ops>(x: FloatTensor<B>) -> FloatTensor<B> {
    // PyTorch limits the logarithm to -100 in this loss.
    let limit = filled::<B>(-100.0, &x);
    maximum::<B>(B::float_log(x), limit)
}
