//! `Ops` for GPUs: the fused kernels of `testgen-gpu`; burn's operators for the rest.

use super::{Activation, Ops, reference_ops};
use burn_tensor::{DType, Shape, ops::ConvOptions};
use testgen_gpu::{ElementFunction, Gpu, GpuDevice, GpuTensor, LayerNormWeights};
use testgen_types::DeviceKind;

impl Ops for Gpu {
    fn kind(device: &GpuDevice) -> DeviceKind {
        device.kind()
    }

    fn after(device: &GpuDevice, distance: u16, count: u16) -> GpuDevice {
        device.after(distance, count)
    }

    fn put_op<E: Send>(
        shape: Shape,
        dtype: DType,
        device: &GpuDevice,
        write: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<GpuTensor, E> {
        testgen_gpu::put(shape, dtype, *device, write)
    }

    fn transposes(elements: usize) -> bool {
        // A launch costs more than a small matrix takes on the host.
        elements >= 1 << 20
    }

    fn transposed_op(x: GpuTensor) -> GpuTensor {
        testgen_gpu::transposed(x)
    }

    fn put_beside_op<T>(device: &GpuDevice, load: impl FnOnce() -> T) -> T {
        testgen_gpu::put_beside(*device, load)
    }

    fn with_tf32<T>(run: impl FnOnce() -> T) -> T {
        testgen_gpu::with_tf32(run)
    }

    fn affine_op(x: GpuTensor, weight: GpuTensor, bias: Option<GpuTensor>) -> GpuTensor {
        // The library adds the bias in the kernel of the product, without another pass.
        bias.as_ref()
            .and_then(|bias| testgen_gpu::affine_by_library(&x, &weight, bias))
            .unwrap_or_else(|| reference_ops::add_bias::<Self>(Self::matmul_op(x, weight), bias))
    }

    fn has_convolutions(device: &GpuDevice) -> bool {
        device.has_convolutions()
    }

    fn convolve_sequences_op(
        x: GpuTensor,
        weight: GpuTensor,
        options: ConvOptions<1>,
    ) -> GpuTensor {
        testgen_gpu::convolution_of_sequences(x, weight, &options)
    }

    fn activation_op(x: GpuTensor, activation: Activation) -> GpuTensor {
        match element_function(activation) {
            Some(function) => testgen_gpu::activate(x, function),
            None => reference_ops::activation::<Self>(x, activation),
        }
    }

    fn layer_norm_op(x: GpuTensor, weight: GpuTensor, bias: GpuTensor, eps: f64) -> GpuTensor {
        testgen_gpu::layer_norm(x, None, LayerNormWeights { weight, bias, eps })
    }

    fn add_layer_norm_op(
        x: GpuTensor,
        residual: GpuTensor,
        weight: GpuTensor,
        bias: GpuTensor,
        eps: f64,
    ) -> GpuTensor {
        testgen_gpu::layer_norm(x, Some(residual), LayerNormWeights { weight, bias, eps })
    }

    fn rms_norm_op(x: GpuTensor, weight: GpuTensor, eps: f64) -> GpuTensor {
        testgen_gpu::rms_norm(x, weight, eps)
    }

    fn masked_softmax_op(scores: GpuTensor, scale: f64, bias: Option<GpuTensor>) -> GpuTensor {
        testgen_gpu::masked_softmax(scores, scale, bias)
    }

    fn merge_heads_op(x: GpuTensor) -> GpuTensor {
        testgen_gpu::merge_heads(x)
    }

    fn rotate_op(x: GpuTensor, cos: GpuTensor, sin: GpuTensor) -> GpuTensor {
        testgen_gpu::rotate(x, cos, sin)
    }
}

/// The activations that have a kernel; the others are composed of burn's operators.
fn element_function(activation: Activation) -> Option<ElementFunction> {
    match activation {
        Activation::Gelu | Activation::GeluPython => Some(ElementFunction::Gelu),
        Activation::GeluNew => Some(ElementFunction::GeluTanh),
        Activation::QuickGelu => Some(ElementFunction::QuickGelu),
        Activation::Relu => Some(ElementFunction::Relu),
        Activation::Silu => Some(ElementFunction::Silu),
        Activation::Tanh => Some(ElementFunction::Tanh),
        Activation::Gelu10
        | Activation::Relu2
        | Activation::Relu6
        | Activation::LeakyRelu
        | Activation::Mish
        | Activation::Hardswish
        | Activation::Sigmoid
        | Activation::Linear => None,
    }
}
