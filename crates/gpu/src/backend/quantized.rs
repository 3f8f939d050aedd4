//! Quantized tensors: none, because a quantized checkpoint is dequantized when it is loaded, or
//! refused.

use super::{Gpu, unused};
use crate::{device::GpuDevice, runtime::GpuTensor};
use burn_backend::{
    ExecutionError, FloatDType, Shape, Slice, TensorData,
    ops::QTensorOps,
    quantization::{QuantScheme, QuantizationParametersPrimitive},
};

impl QTensorOps<Self> for Gpu {
    fn q_from_data(_data: TensorData, _device: &GpuDevice) -> GpuTensor {
        unused("q_from_data")
    }

    fn quantize(
        _tensor: GpuTensor,
        _scheme: &QuantScheme,
        _qparams: QuantizationParametersPrimitive<Self>,
    ) -> GpuTensor {
        unused("quantize")
    }

    fn dequantize(_tensor: GpuTensor, _dtype: FloatDType) -> GpuTensor {
        unused("dequantize")
    }

    fn q_device(tensor: &GpuTensor) -> GpuDevice {
        tensor.device
    }

    fn q_to_device(_tensor: GpuTensor, _device: &GpuDevice) -> GpuTensor {
        unused("q_to_device")
    }

    fn q_reshape(_tensor: GpuTensor, _shape: Shape) -> GpuTensor {
        unused("q_reshape")
    }

    async fn q_into_data(_tensor: GpuTensor) -> Result<TensorData, ExecutionError> {
        unused("q_into_data")
    }

    fn q_expand(_tensor: GpuTensor, _shape: Shape) -> GpuTensor {
        unused("q_expand")
    }

    fn q_swap_dims(_tensor: GpuTensor, _dim1: usize, _dim2: usize) -> GpuTensor {
        unused("q_swap_dims")
    }

    fn q_permute(_tensor: GpuTensor, _axes: &[usize]) -> GpuTensor {
        unused("q_permute")
    }

    fn q_flip(_tensor: GpuTensor, _axes: &[usize]) -> GpuTensor {
        unused("q_flip")
    }

    fn q_select(_tensor: GpuTensor, _dim: usize, _indices: GpuTensor) -> GpuTensor {
        unused("q_select")
    }

    fn q_slice(_tensor: GpuTensor, _slices: &[Slice]) -> GpuTensor {
        unused("q_slice")
    }
}
