//! Short names for operators on float tensors of any rank.

use crate::operators::value::slices;
use burn_tensor::{FloatDType, Shape, TensorMetadata, ops::FloatTensor};
use testgen_nn::backend::Ops;

/// The lengths of the dimensions.
pub(crate) fn dims<B: Ops>(x: &FloatTensor<B>) -> Vec<usize> {
    x.shape().to_vec()
}

/// Another shape for the same elements.
pub(crate) fn reshape<B: Ops>(x: FloatTensor<B>, shape: impl Into<Vec<usize>>) -> FloatTensor<B> {
    B::float_reshape(x, Shape::from(shape.into()))
}

/// The tensor repeated to a shape of the same rank.
pub(crate) fn expand<B: Ops>(x: FloatTensor<B>, shape: &[usize]) -> FloatTensor<B> {
    B::float_expand(x, Shape::from(shape.to_vec()))
}

/// A vector of channels as [1, channels, 1, ...] of `rank` dimensions.
pub(crate) fn as_channels<B: Ops>(x: FloatTensor<B>, rank: usize) -> FloatTensor<B> {
    let mut shape = vec![1; rank];
    shape[1] = x.shape().num_elements();
    reshape::<B>(x, shape)
}

/// A tensor of one number.
pub(crate) fn full<B: Ops>(shape: &[usize], number: f64, like: &FloatTensor<B>) -> FloatTensor<B> {
    let dtype = FloatDType::from(like.dtype());
    B::float_full(
        Shape::from(shape.to_vec()),
        number.into(),
        &B::float_device(like),
        dtype,
    )
}

/// The sum over `dim`, which is removed.
pub(crate) fn sum<B: Ops>(x: FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    let shape = without(&dims::<B>(&x), dim);
    reshape::<B>(B::float_sum_dim(x, dim), shape)
}

/// A shape without a dimension.
pub(crate) fn without(shape: &[usize], dim: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    shape.remove(dim);
    shape
}

/// The largest of two, element by element; NaN where either is NaN.
pub(crate) fn maximum<B: Ops>(a: FloatTensor<B>, b: FloatTensor<B>) -> FloatTensor<B> {
    // burn's own selects by a comparison, which is false for NaN.
    let truths = burn_tensor::get_device_settings::<B>(&B::float_device(&a)).bool_dtype;
    let larger = B::float_mask_where(a.clone(), B::float_lower(a, b.clone(), truths), b.clone());
    B::float_mask_where(larger, B::float_is_nan(b.clone(), truths), b)
}

/// The tensor with `before` and `after` elements of `number` at the ends of `dim`; unchanged where
/// both are 0.
pub(crate) fn pad<B: Ops>(
    x: FloatTensor<B>,
    dim: usize,
    ends: [usize; 2],
    number: f64,
) -> FloatTensor<B> {
    let [before, after] = ends.map(|length| {
        let mut shape = dims::<B>(&x);
        shape[dim] = length;
        (length > 0).then(|| full::<B>(&shape, number, &x))
    });
    let parts: Vec<FloatTensor<B>> = before.into_iter().chain([x]).chain(after).collect();
    // Joining a single part would copy it.
    match <[FloatTensor<B>; 1]>::try_from(parts) {
        Ok([x]) => x,
        Err(parts) => B::float_cat(parts, dim),
    }
}

/// Start, end and step of `dim`; the other dimensions are whole.
pub(crate) fn narrow<B: Ops>(x: FloatTensor<B>, dim: usize, range: [usize; 3]) -> FloatTensor<B> {
    let mut ranges: Vec<[usize; 3]> = dims::<B>(&x)
        .into_iter()
        .map(|length| [0, length, 1])
        .collect();
    ranges[dim] = range;
    B::float_slice(x, &slices(&ranges))
}
