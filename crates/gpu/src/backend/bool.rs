//! Operations on tensors of truth values.

use super::{Cube, Gpu, delegate};
use crate::{device::GpuDevice, peer, runtime::GpuTensor};
use burn_backend::{
    BoolDType, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData,
    ops::BoolTensorOps,
};

delegate! {
    BoolTensorOps {
        fn bool_empty(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> GpuTensor;
        fn bool_zeros(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> GpuTensor;
        fn bool_ones(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> GpuTensor;
        fn bool_from_data(data: TensorData, device: &GpuDevice) -> GpuTensor;
        fn bool_into_int(tensor: GpuTensor, out_dtype: IntDType) -> GpuTensor;
        fn bool_into_float(tensor: GpuTensor, out_dtype: FloatDType) -> GpuTensor;
        fn bool_device(tensor: &GpuTensor) -> GpuDevice;
        fn bool_reshape(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn bool_slice(tensor: GpuTensor, slices: &[Slice]) -> GpuTensor;
        fn bool_slice_assign(tensor: GpuTensor, slices: &[Slice], value: GpuTensor) -> GpuTensor;
        fn bool_mask_where(tensor: GpuTensor, mask: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn bool_mask_fill(tensor: GpuTensor, mask: GpuTensor, value: Scalar) -> GpuTensor;
        fn bool_gather(dim: usize, tensor: GpuTensor, indices: GpuTensor) -> GpuTensor;
        fn bool_scatter_or(dim: usize, tensor: GpuTensor, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn bool_select(tensor: GpuTensor, dim: usize, indices: GpuTensor) -> GpuTensor;
        fn bool_select_or(tensor: GpuTensor, dim: usize, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn bool_repeat_dim(tensor: GpuTensor, dim: usize, times: usize) -> GpuTensor;
        fn bool_equal(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bool_equal_elem(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn bool_not(tensor: GpuTensor) -> GpuTensor;
        fn bool_and(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bool_or(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bool_swap_dims(tensor: GpuTensor, dim1: usize, dim2: usize) -> GpuTensor;
        fn bool_permute(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn bool_flip(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn bool_expand(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn bool_unfold(tensor: GpuTensor, dim: usize, size: usize, step: usize) -> GpuTensor;
    }

    async fn bool_into_data(tensor: GpuTensor) -> Result<TensorData, ExecutionError> {
        <Cube as BoolTensorOps<Cube>>::bool_into_data(tensor).await
    }

    fn bool_to_device(tensor: GpuTensor, device: &GpuDevice) -> GpuTensor {
        peer::to_device(tensor, *device)
    }
}
