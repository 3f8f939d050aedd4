//! Operations on tensors of truth values.

use super::{Cube, Gpu, Tensor, delegate};
use crate::device::GpuDevice;
use burn_backend::{
    BoolDType, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData, ops::BoolTensorOps,
};

delegate! {
    BoolTensorOps {
        fn bool_empty(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> Tensor;
        fn bool_zeros(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> Tensor;
        fn bool_ones(shape: Shape, device: &GpuDevice, dtype: BoolDType) -> Tensor;
        fn bool_from_data(data: TensorData, device: &GpuDevice) -> Tensor;
        fn bool_into_int(tensor: Tensor, out_dtype: IntDType) -> Tensor;
        fn bool_into_float(tensor: Tensor, out_dtype: FloatDType) -> Tensor;
        fn bool_device(tensor: &Tensor) -> GpuDevice;
        fn bool_to_device(tensor: Tensor, device: &GpuDevice) -> Tensor;
        fn bool_reshape(tensor: Tensor, shape: Shape) -> Tensor;
        fn bool_slice(tensor: Tensor, slices: &[Slice]) -> Tensor;
        fn bool_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor;
        fn bool_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor;
        fn bool_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor;
        fn bool_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor;
        fn bool_scatter_or(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor;
        fn bool_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor;
        fn bool_select_or(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor;
        fn bool_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor;
        fn bool_equal(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bool_equal_elem(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn bool_not(tensor: Tensor) -> Tensor;
        fn bool_and(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bool_or(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bool_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor;
        fn bool_permute(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn bool_flip(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn bool_expand(tensor: Tensor, shape: Shape) -> Tensor;
        fn bool_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor;
    }

    async fn bool_into_data(tensor: Tensor) -> Result<TensorData, ExecutionError> {
        <Cube as BoolTensorOps<Cube>>::bool_into_data(tensor).await
    }
}
