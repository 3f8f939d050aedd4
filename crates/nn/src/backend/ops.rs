//! The operations of models that have a faster CPU kernel, each with a default in plain burn
//! operators.

use super::{Activation, reference_ops, timed_call};
use burn_tensor::{
    DType, Shape, Tensor, TensorData, TensorPrimitive,
    backend::Backend,
    ops::{ConvOptions, FloatTensor},
};
use testgen_types::{DeviceKind, Precision};

/// A backend that models can be written for. Shapes are in the documentation of the functions
/// below.
pub trait Ops: Backend {
    /// The kind of device that a tensor of this backend says it is on.
    fn kind(device: &Self::Device) -> DeviceKind;

    /// The device `distance` places after this one in the ring of all `count` devices of its kind. A
    /// backend with one device has no other.
    fn after(device: &Self::Device, _distance: u16, _count: u16) -> Self::Device {
        device.clone()
    }

    /// See [`put`].
    fn put_op<E: Send>(
        shape: Shape,
        dtype: DType,
        device: &Self::Device,
        write: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<FloatTensor<Self>, E> {
        let mut bytes = vec![0; shape.num_elements() * dtype.size()];
        // The host has a single part: all rows, from the first on.
        write(0, &mut bytes)?;
        let data = TensorData::from_bytes_vec(bytes, shape, dtype);
        Ok(Self::float_from_data(data, device))
    }

    /// Whether [`transposed`] is faster on the device than on the host, for a matrix with this
    /// number of elements that is copied to it.
    fn transposes(_elements: usize) -> bool {
        false
    }

    /// See [`transposed`].
    fn transposed_op(x: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_swap_dims(x, 0, 1)
    }

    /// See [`put_beside`].
    fn put_beside_op<T>(_device: &Self::Device, load: impl FnOnce() -> T) -> T {
        load()
    }

    /// See [`compute_in`].
    fn with_tf32<T>(run: impl FnOnce() -> T) -> T {
        run()
    }

    /// See [`matmul`].
    fn matmul_op(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(left, right)
    }

    /// See [`linear`].
    fn affine_op(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: Option<FloatTensor<Self>>,
    ) -> FloatTensor<Self> {
        reference_ops::add_bias::<Self>(Self::matmul_op(x, weight), bias)
    }

    /// Whether a library of the device's vendor computes convolutions.
    fn has_convolutions(_device: &Self::Device) -> bool {
        false
    }

    /// See [`convolve_sequences`].
    fn convolve_sequences_op(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        options: ConvOptions<1>,
    ) -> FloatTensor<Self> {
        // burn's convolutions read channels before positions.
        let channels_first = Self::float_swap_dims(x, 1, 2);
        Self::float_swap_dims(Self::conv1d(channels_first, weight, None, options), 1, 2)
    }

    /// See [`activate`].
    fn activation_op(x: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        reference_ops::activation::<Self>(x, activation)
    }

    /// See [`layer_norm`].
    fn layer_norm_op(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        eps: f64,
    ) -> FloatTensor<Self> {
        reference_ops::layer_norm::<Self>(x, weight, bias, eps)
    }

    /// See [`add_layer_norm`].
    fn add_layer_norm_op(
        x: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        eps: f64,
    ) -> FloatTensor<Self> {
        reference_ops::layer_norm::<Self>(Self::float_add(x, residual), weight, bias, eps)
    }

    /// See [`rms_norm`].
    fn rms_norm_op(x: FloatTensor<Self>, weight: FloatTensor<Self>, eps: f64) -> FloatTensor<Self> {
        reference_ops::rms_norm::<Self>(x, weight, eps)
    }

    /// See [`masked_softmax`].
    fn masked_softmax_op(
        scores: FloatTensor<Self>,
        scale: f64,
        bias: Option<FloatTensor<Self>>,
    ) -> FloatTensor<Self> {
        reference_ops::masked_softmax::<Self>(scores, scale, bias)
    }

    /// See [`merge_heads`].
    fn merge_heads_op(x: FloatTensor<Self>) -> FloatTensor<Self> {
        reference_ops::merge_heads::<Self>(x)
    }

    /// See [`rotate`].
    fn rotate_op(
        x: FloatTensor<Self>,
        cos: FloatTensor<Self>,
        sin: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        reference_ops::rotate::<Self>(x, cos, sin)
    }
}

/// Runs `run`, whose tensors are stored in `precision`: in tf32, the matrix units of a device that
/// has them for TF32 compute its products; other devices compute those in f32.
pub fn compute_in<B: Ops, T>(precision: Precision, run: impl FnOnce() -> T) -> T {
    match precision {
        Precision::Tf32 => B::with_tf32(run),
        Precision::F32 | Precision::F16 | Precision::Bf16 => run(),
    }
}

/// A tensor whose bytes `write` writes: rows of the last dimension, from the one with this index
/// on. It is called once for each part that is copied to the device, with whole rows, by several
/// threads at the same time.
pub fn put<B: Ops, E: Send, const D: usize>(
    shape: [usize; D],
    dtype: DType,
    device: &B::Device,
    write: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
) -> Result<Tensor<B, D>, E> {
    B::put_op(Shape::from(shape), dtype, device, write).map(wrap)
}

/// The transpose of a matrix, with adjacent elements in its rows.
pub fn transposed<B: Ops, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    wrap(B::transposed_op(unwrap(x)))
}

/// Runs `load`, which puts tensors on the device. A device that can do both puts them while it
/// computes what the calling thread has started.
pub fn put_beside<B: Ops, T>(device: &B::Device, load: impl FnOnce() -> T) -> T {
    B::put_beside_op(device, load)
}

fn wrap<B: Ops, const D: usize>(primitive: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(primitive))
}

fn unwrap<B: Ops, const D: usize>(tensor: Tensor<B, D>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
}

/// `left` [batch, heads, rows, inner] times `right` [batch, heads, inner, columns].
pub fn matmul<B: Ops>(left: Tensor<B, 4>, right: Tensor<B, 4>) -> Tensor<B, 4> {
    let (shapes, device) = ([left.dims(), right.dims()], left.device());
    timed_call::<B, _>(
        &device,
        || format!("matmul {:?} x {:?}", shapes[0], shapes[1]),
        || wrap(B::matmul_op(unwrap(left), unwrap(right))),
    )
}

/// `x` [rows, in] times `weight` [in, out], plus `bias` `[out]`: [rows, out].
pub fn linear<B: Ops>(
    x: Tensor<B, 2>,
    weight: Tensor<B, 2>,
    bias: Option<Tensor<B, 1>>,
) -> Tensor<B, 2> {
    let (shapes, device) = ([x.dims(), weight.dims()], x.device());
    timed_call::<B, _>(
        &device,
        || format!("linear {:?} x {:?}", shapes[0], shapes[1]),
        || wrap(B::affine_op(unwrap(x), unwrap(weight), bias.map(unwrap))),
    )
}

/// The convolution of `x` [batch, seq, in] with `weight` [out, in / groups, kernel]: [batch, seq',
/// out].
pub fn convolve_sequences<B: Ops>(
    x: Tensor<B, 3>,
    weight: Tensor<B, 3>,
    options: ConvOptions<1>,
) -> Tensor<B, 3> {
    wrap(B::convolve_sequences_op(unwrap(x), unwrap(weight), options))
}

/// The activation function, element by element.
pub fn activate<B: Ops, const D: usize>(x: Tensor<B, D>, activation: Activation) -> Tensor<B, D> {
    wrap(B::activation_op(unwrap(x), activation))
}

/// Layer normalisation over the last dimension; `weight` and `bias` have its length.
pub fn layer_norm<B: Ops, const D: usize>(
    x: Tensor<B, D>,
    weight: Tensor<B, 1>,
    bias: Tensor<B, 1>,
    eps: f64,
) -> Tensor<B, D> {
    wrap(B::layer_norm_op(
        unwrap(x),
        unwrap(weight),
        unwrap(bias),
        eps,
    ))
}

/// Layer normalisation of `x + residual`.
pub fn add_layer_norm<B: Ops, const D: usize>(
    x: Tensor<B, D>,
    residual: Tensor<B, D>,
    weight: Tensor<B, 1>,
    bias: Tensor<B, 1>,
    eps: f64,
) -> Tensor<B, D> {
    wrap(B::add_layer_norm_op(
        unwrap(x),
        unwrap(residual),
        unwrap(weight),
        unwrap(bias),
        eps,
    ))
}

/// Root-mean-square normalisation over the last dimension (Zhang and Sennrich 2019); `weight` has
/// its length.
pub fn rms_norm<B: Ops, const D: usize>(
    x: Tensor<B, D>,
    weight: Tensor<B, 1>,
    eps: f64,
) -> Tensor<B, D> {
    wrap(B::rms_norm_op(unwrap(x), unwrap(weight), eps))
}

/// softmax(`scores` * `scale` + `bias`) over the last dimension.
///
/// `scores` is [batch, heads, query, key]; `bias` is f32, [batch or 1, heads or 1, query or 1,
/// key].
pub fn masked_softmax<B: Ops>(
    scores: Tensor<B, 4>,
    scale: f64,
    bias: Option<Tensor<B, 4>>,
) -> Tensor<B, 4> {
    wrap(B::masked_softmax_op(
        unwrap(scores),
        scale,
        bias.map(unwrap),
    ))
}

/// [batch, heads, seq, head_dim] to [batch, seq, heads * head_dim].
pub fn merge_heads<B: Ops>(x: Tensor<B, 4>) -> Tensor<B, 3> {
    wrap(B::merge_heads_op(unwrap(x)))
}

/// `x` cos + rotate_half(`x`) sin for the first elements of every head; the others are unchanged.
///
/// `x` is [batch, heads, seq, head_dim]; `cos` and `sin` are [batch or 1, 1, seq, width] in its
/// type.
pub fn rotate<B: Ops>(x: Tensor<B, 4>, cos: Tensor<B, 4>, sin: Tensor<B, 4>) -> Tensor<B, 4> {
    wrap(B::rotate_op(unwrap(x), unwrap(cos), unwrap(sin)))
}
