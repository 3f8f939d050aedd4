//! The default of each operation of `Ops`, in burn's own operators.
//!
//! In 16 bits they compute in f32 and round once, as PyTorch's kernels do.

use super::Activation;
use burn_tensor::{DType, FloatDType, Shape, TensorMetadata, backend::Backend, ops::FloatTensor};

/// `x` [rows, columns] plus `bias` [columns].
pub(super) fn add_bias<B: Backend>(x: FloatTensor<B>, bias: Option<FloatTensor<B>>) -> FloatTensor<B> {
    match bias {
        Some(bias) => B::float_add(x, as_last_dimension::<B>(bias, 2)),
        None => x,
    }
}

/// The activation's formula.
pub(super) fn activation<B: Backend>(x: FloatTensor<B>, activation: Activation) -> FloatTensor<B> {
    in_f32::<B>(x, |x| activation.compose::<B>(x))
}

/// Layer normalisation over the last dimension.
pub(super) fn layer_norm<B: Backend>(
    x: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    eps: f64,
) -> FloatTensor<B> {
    in_f32::<B>(x, |x| B::layer_norm(x, as_f32::<B>(weight), Some(as_f32::<B>(bias)), eps))
}

/// Root-mean-square normalisation over the last dimension; as in transformers, `weight` is applied in the type of `x`.
pub(super) fn rms_norm<B: Backend>(x: FloatTensor<B>, weight: FloatTensor<B>, eps: f64) -> FloatTensor<B> {
    let dimensions = x.shape().num_dims();
    let normal = in_f32::<B>(x, |x| {
        let square = B::float_mean_dim(B::float_mul(x.clone(), x.clone()), dimensions - 1);
        B::float_mul(x, B::float_recip(B::float_sqrt(B::float_add_scalar(square, eps.into()))))
    });
    B::float_mul(normal, as_last_dimension::<B>(weight, dimensions))
}

/// softmax(`scores` * `scale` + `bias`) over the last dimension; `bias` is f32.
pub(super) fn masked_softmax<B: Backend>(
    scores: FloatTensor<B>,
    scale: f64,
    bias: Option<FloatTensor<B>>,
) -> FloatTensor<B> {
    let last = scores.shape().num_dims() - 1;
    in_f32::<B>(scores, |scores| {
        let scaled = B::float_mul_scalar(scores, scale.into());
        let biased = match bias {
            Some(bias) => B::float_add(scaled, bias),
            None => scaled,
        };
        B::softmax(biased, last)
    })
}

/// [batch, heads, seq, head_dim] to [batch, seq, heads * head_dim].
pub(super) fn merge_heads<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let [batch, heads, seq, head_dim] = x.shape().dims();
    B::float_reshape(B::float_swap_dims(x, 1, 2), Shape::new([batch, seq, heads * head_dim]))
}

fn as_last_dimension<B: Backend>(x: FloatTensor<B>, dimensions: usize) -> FloatTensor<B> {
    let mut shape = vec![1; dimensions];
    shape[dimensions - 1] = x.shape().num_elements();
    B::float_reshape(x, Shape::from(shape))
}

fn as_f32<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    if x.dtype() == DType::F32 { x } else { B::float_cast(x, FloatDType::F32) }
}

/// Computes in f32, whatever the type of `x`, and rounds the result to it.
fn in_f32<B: Backend>(x: FloatTensor<B>, compute: impl FnOnce(FloatTensor<B>) -> FloatTensor<B>) -> FloatTensor<B> {
    match x.dtype() {
        DType::F16 => B::float_cast(compute(as_f32::<B>(x)), FloatDType::F16),
        DType::BF16 => B::float_cast(compute(as_f32::<B>(x)), FloatDType::BF16),
        _ => compute(x),
    }
}
