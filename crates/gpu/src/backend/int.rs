//! Operations on integer tensors.

use super::{Cube, Gpu, Tensor, as_row, delegate};
use crate::{device::GpuDevice, product};
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData, ops::IntTensorOps,
};

delegate! {
    IntTensorOps {
        fn int_empty(shape: Shape, device: &GpuDevice, dtype: IntDType) -> Tensor;
        fn int_from_data(data: TensorData, device: &GpuDevice) -> Tensor;
        fn int_device(tensor: &Tensor) -> GpuDevice;
        fn int_to_device(tensor: Tensor, device: &GpuDevice) -> Tensor;
        fn int_reshape(tensor: Tensor, shape: Shape) -> Tensor;
        fn int_slice(tensor: Tensor, slices: &[Slice]) -> Tensor;
        fn int_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor;
        fn int_into_float(tensor: Tensor, out_dtype: FloatDType) -> Tensor;
        fn int_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor;
        fn int_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor;
        fn int_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor;
        fn int_scatter_add(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor;
        fn int_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor;
        fn int_select_add(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor;
        fn int_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor;
        fn int_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn int_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn int_greater(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn int_greater_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn int_greater_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn int_greater_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn int_lower(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn int_lower_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn int_lower_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn int_lower_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn int_add(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_add_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_powi(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_powi_scalar_impl(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_clamp(tensor: Tensor, min: Scalar, max: Scalar) -> Tensor;
        fn int_sub(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_sub_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_mul(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_mul_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_div(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_div_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_remainder(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn int_remainder_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_zeros(shape: Shape, device: &GpuDevice, dtype: IntDType) -> Tensor;
        fn int_ones(shape: Shape, device: &GpuDevice, dtype: IntDType) -> Tensor;
        fn int_full(shape: Shape, fill_value: Scalar, device: &GpuDevice, dtype: IntDType) -> Tensor;
        fn int_sum_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_prod_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_mean_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_cumsum(tensor: Tensor, dim: usize) -> Tensor;
        fn int_cumprod(tensor: Tensor, dim: usize) -> Tensor;
        fn int_cummin(tensor: Tensor, dim: usize) -> Tensor;
        fn int_cummax(tensor: Tensor, dim: usize) -> Tensor;
        fn int_argmax(tensor: Tensor, dim: usize) -> Tensor;
        fn int_argtopk(tensor: Tensor, dim: usize, k: usize) -> Tensor;
        fn int_topk(tensor: Tensor, dim: usize, k: usize) -> Tensor;
        fn int_argmin(tensor: Tensor, dim: usize) -> Tensor;
        fn int_max(tensor: Tensor) -> Tensor;
        fn int_max_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_max_abs(tensor: Tensor) -> Tensor;
        fn int_max_abs_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_min(tensor: Tensor) -> Tensor;
        fn int_min_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn int_abs(tensor: Tensor) -> Tensor;
        fn int_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor;
        fn int_permute(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn int_flip(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn int_random(shape: Shape, distribution: Distribution, device: &GpuDevice, dtype: IntDType) -> Tensor;
        fn int_sign(tensor: Tensor) -> Tensor;
        fn int_expand(tensor: Tensor, shape: Shape) -> Tensor;
        fn bitwise_and(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bitwise_and_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn bitwise_or(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bitwise_or_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn bitwise_xor(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bitwise_xor_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn bitwise_not(tensor: Tensor) -> Tensor;
        fn bitwise_left_shift(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bitwise_left_shift_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn bitwise_right_shift(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn bitwise_right_shift_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn int_cast(tensor: Tensor, dtype: IntDType) -> Tensor;
        fn int_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor;
    }

    async fn int_into_data(tensor: Tensor) -> Result<TensorData, ExecutionError> {
        <Cube as IntTensorOps<Cube>>::int_into_data(tensor).await
    }

    fn int_matmul(lhs: Tensor, rhs: Tensor) -> Tensor {
        product::product(lhs, rhs)
    }

    /// As the sum of one dimension, for the reason given at `float_sum`.
    fn int_sum(tensor: Tensor) -> Tensor {
        Self::int_sum_dim(as_row(tensor), 0)
    }

    fn int_prod(tensor: Tensor) -> Tensor {
        Self::int_prod_dim(as_row(tensor), 0)
    }
}
