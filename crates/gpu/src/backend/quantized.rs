//! Quantized tensors: none, because a quantized checkpoint is dequantized when it is loaded, or refused.

use super::{Gpu, Tensor, unused};
use crate::device::GpuDevice;
use burn_backend::{
    ExecutionError, FloatDType, Shape, Slice, TensorData,
    ops::QTensorOps,
    quantization::{QuantScheme, QuantizationParametersPrimitive},
};

impl QTensorOps<Self> for Gpu {
    fn q_from_data(_data: TensorData, _device: &GpuDevice) -> Tensor {
        unused("q_from_data")
    }

    fn quantize(_tensor: Tensor, _scheme: &QuantScheme, _qparams: QuantizationParametersPrimitive<Self>) -> Tensor {
        unused("quantize")
    }

    fn dequantize(_tensor: Tensor, _dtype: FloatDType) -> Tensor {
        unused("dequantize")
    }

    fn q_device(tensor: &Tensor) -> GpuDevice {
        tensor.device
    }

    fn q_to_device(_tensor: Tensor, _device: &GpuDevice) -> Tensor {
        unused("q_to_device")
    }

    fn q_reshape(_tensor: Tensor, _shape: Shape) -> Tensor {
        unused("q_reshape")
    }

    async fn q_into_data(_tensor: Tensor) -> Result<TensorData, ExecutionError> {
        unused("q_into_data")
    }

    fn q_expand(_tensor: Tensor, _shape: Shape) -> Tensor {
        unused("q_expand")
    }

    fn q_swap_dims(_tensor: Tensor, _dim1: usize, _dim2: usize) -> Tensor {
        unused("q_swap_dims")
    }

    fn q_permute(_tensor: Tensor, _axes: &[usize]) -> Tensor {
        unused("q_permute")
    }

    fn q_flip(_tensor: Tensor, _axes: &[usize]) -> Tensor {
        unused("q_flip")
    }

    fn q_select(_tensor: Tensor, _dim: usize, _indices: Tensor) -> Tensor {
        unused("q_select")
    }

    fn q_slice(_tensor: Tensor, _slices: &[Slice]) -> Tensor {
        unused("q_slice")
    }
}
