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
    let number = |number: f64| full::<B>(&dims::<B>(&a), number, &a);
    let difference = || B::float_sub(a.clone(), b.clone());
    match arguments.operator {
        Operator::MseLoss => {
            let difference = difference();
            B::float_mul(difference.clone(), difference)
        }
        Operator::L1Loss => B::float_abs(difference()),
        Operator::SmoothL1Loss => {
            let distance = B::float_abs(difference());
            let square =
                B::float_mul_scalar(B::float_mul(distance.clone(), distance.clone()), 0.5.into());
            // PyTorch's default of `beta` is 1.
            let near = B::float_lower_elem(distance.clone(), 1.0.into(), arguments.truths());
            B::float_mask_where(B::float_sub_scalar(distance, 0.5.into()), near, square)
        }
        Operator::BceLoss => {
            // PyTorch limits the logarithm to -100.
            let log = |x: FloatTensor<B>| maximum::<B>(B::float_log(x), number(-100.0));
            let other = B::float_mul(
                B::float_sub(number(1.0), b.clone()),
                log(B::float_sub(number(1.0), a.clone())),
            );
            B::float_neg(B::float_add(B::float_mul(b.clone(), log(a.clone())), other))
        }
        Operator::BceWithLogitsLoss => {
            // The exponent is never positive, so that no large logit overflows.
            let tail = B::float_log(B::float_add_scalar(
                B::float_exp(B::float_neg(B::float_abs(a.clone()))),
                1.0.into(),
            ));
            let tail = B::float_add(tail, maximum::<B>(B::float_neg(a.clone()), number(0.0)));
            B::float_add(
                B::float_mul(B::float_sub(number(1.0), b.clone()), a.clone()),
                tail,
            )
        }
        // `kl_div_loss`; the product of a target of 0 with a logarithm is 0.
        _ => {
            let product = B::float_mul(b.clone(), B::float_sub(B::float_log(b.clone()), a.clone()));
            let empty = B::float_equal_elem(b.clone(), 0.0.into(), arguments.truths());
            B::float_mask_where(product, empty, number(0.0))
        }
    }
}
