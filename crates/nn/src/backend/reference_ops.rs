//! The default of each operation of `Ops`, in burn's own operators.
//!
//! In 16 bits they compute in f32 and round once, as PyTorch's kernels do.

use super::Activation;
use burn_tensor::{
    DType, FloatDType, Shape, Slice, TensorMetadata, backend::Backend, ops::FloatTensor,
};
use std::ops::Range;

/// `x` [rows, columns] plus a `bias` for each column.
pub fn add_bias<B: Backend>(x: FloatTensor<B>, bias: Option<FloatTensor<B>>) -> FloatTensor<B> {
    match bias {
        Some(bias) => B::float_add(x, as_last_dimension::<B>(bias, 2)),
        None => x,
    }
}

/// The activation's formula.
pub fn activation<B: Backend>(x: FloatTensor<B>, activation: Activation) -> FloatTensor<B> {
    in_f32::<B>(x, |x| activation.compose::<B>(x))
}

/// Layer normalisation over the last dimension.
pub fn layer_norm<B: Backend>(
    x: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
    eps: f64,
) -> FloatTensor<B> {
    in_f32::<B>(x, |x| {
        B::layer_norm(x, as_f32::<B>(weight), Some(as_f32::<B>(bias)), eps)
    })
}

/// Root-mean-square normalisation over the last dimension; as in transformers, `weight` is applied
/// in the type of `x`.
pub fn rms_norm<B: Backend>(x: FloatTensor<B>, weight: FloatTensor<B>, eps: f64) -> FloatTensor<B> {
    let dimensions = x.shape().num_dims();
    let normal = in_f32::<B>(x, |x| {
        let square = B::float_mean_dim(B::float_mul(x.clone(), x.clone()), dimensions - 1);
        B::float_mul(
            x,
            B::float_recip(B::float_sqrt(B::float_add_scalar(square, eps.into()))),
        )
    });
    // After the rounding to the type of `x`, as `LlamaRMSNorm` multiplies.
    B::float_mul(normal, as_last_dimension::<B>(weight, dimensions))
}

/// softmax(`scores` * `scale` + `bias`) over the last dimension; `bias` is f32.
pub fn masked_softmax<B: Backend>(
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
pub fn merge_heads<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let [batch, heads, seq, head_dim] = x.shape().dims();
    B::float_reshape(
        B::float_swap_dims(x, 1, 2),
        Shape::new([batch, seq, heads * head_dim]),
    )
}

/// `x` cos + rotate_half(`x`) sin for the first elements of every head; the others are unchanged.
pub fn rotate<B: Backend>(
    x: FloatTensor<B>,
    cos: FloatTensor<B>,
    sin: FloatTensor<B>,
) -> FloatTensor<B> {
    let [_, _, _, head_dim] = x.shape().dims();
    // A partial rotation (GPT-NeoX, Phi) has narrower tables than heads.
    let [_, _, _, width] = cos.shape().dims();
    let part = |x: FloatTensor<B>, range: Range<usize>| {
        let [batch, heads, seq, _] = x.shape().dims();
        B::float_slice(
            x,
            &[
                first_elements(batch),
                first_elements(heads),
                first_elements(seq),
                Slice::from(range),
            ],
        )
    };
    let (first, second) = (
        part(x.clone(), 0..width / 2),
        part(x.clone(), width / 2..width),
    );
    // `rotate_half` of transformers.
    let turned = B::float_cat(vec![B::float_neg(second), first], 3);
    let rotated = if width == head_dim {
        x.clone()
    } else {
        part(x.clone(), 0..width)
    };
    let rotated = B::float_add(B::float_mul(rotated, cos), B::float_mul(turned, sin));
    if width == head_dim {
        return rotated;
    }
    B::float_cat(vec![rotated, part(x, width..head_dim)], 3)
}

fn as_last_dimension<B: Backend>(x: FloatTensor<B>, dimensions: usize) -> FloatTensor<B> {
    let mut shape = vec![1; dimensions];
    shape[dimensions - 1] = x.shape().num_elements();
    B::float_reshape(x, Shape::from(shape))
}

fn as_f32<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    if x.dtype() == DType::F32 {
        x
    } else {
        B::float_cast(x, FloatDType::F32)
    }
}

/// Computes in f32, whatever the type of `x`, and rounds the result to it.
fn in_f32<B: Backend>(
    x: FloatTensor<B>,
    compute: impl FnOnce(FloatTensor<B>) -> FloatTensor<B>,
) -> FloatTensor<B> {
    match x.dtype() {
        DType::F16 => B::float_cast(compute(as_f32::<B>(x)), FloatDType::F16),
        DType::BF16 => B::float_cast(compute(as_f32::<B>(x)), FloatDType::BF16),
        _ => compute(x),
    }
}

fn first_elements(length: usize) -> Slice {
    Slice::from(0..length)
}
