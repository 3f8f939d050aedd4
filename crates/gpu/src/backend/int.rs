//! Operations on integer tensors.

use super::{Cube, Gpu, as_row, delegate};
use crate::{device::GpuDevice, peer, product, runtime::GpuTensor};
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice,
    TensorData, ops::IntTensorOps,
};

delegate! {
    IntTensorOps {
        fn int_empty(shape: Shape, device: &GpuDevice, dtype: IntDType) -> GpuTensor;
        fn int_from_data(data: TensorData, device: &GpuDevice) -> GpuTensor;
        fn int_device(tensor: &GpuTensor) -> GpuDevice;
        fn int_reshape(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn int_slice(tensor: GpuTensor, slices: &[Slice]) -> GpuTensor;
        fn int_slice_assign(tensor: GpuTensor, slices: &[Slice], value: GpuTensor) -> GpuTensor;
        fn int_into_float(tensor: GpuTensor, out_dtype: FloatDType) -> GpuTensor;
        fn int_mask_where(tensor: GpuTensor, mask: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn int_mask_fill(tensor: GpuTensor, mask: GpuTensor, value: Scalar) -> GpuTensor;
        fn int_gather(dim: usize, tensor: GpuTensor, indices: GpuTensor) -> GpuTensor;
        fn int_scatter_add(dim: usize, tensor: GpuTensor, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn int_select(tensor: GpuTensor, dim: usize, indices: GpuTensor) -> GpuTensor;
        fn int_select_add(tensor: GpuTensor, dim: usize, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn int_repeat_dim(tensor: GpuTensor, dim: usize, times: usize) -> GpuTensor;
        fn int_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn int_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn int_greater(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn int_greater_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn int_greater_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn int_greater_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn int_lower(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn int_lower_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn int_lower_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn int_lower_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn int_add(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_add_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_powi(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_powi_scalar_impl(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_clamp(tensor: GpuTensor, min: Scalar, max: Scalar) -> GpuTensor;
        fn int_sub(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_sub_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_mul(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_mul_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_div(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_div_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_remainder(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn int_remainder_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_zeros(shape: Shape, device: &GpuDevice, dtype: IntDType) -> GpuTensor;
        fn int_ones(shape: Shape, device: &GpuDevice, dtype: IntDType) -> GpuTensor;
        fn int_full(shape: Shape, fill_value: Scalar, device: &GpuDevice, dtype: IntDType) -> GpuTensor;
        fn int_sum_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_prod_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_mean_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_cumsum(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_cumprod(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_cummin(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_cummax(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_argmax(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_argtopk(tensor: GpuTensor, dim: usize, k: usize) -> GpuTensor;
        fn int_topk(tensor: GpuTensor, dim: usize, k: usize) -> GpuTensor;
        fn int_argmin(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_max(tensor: GpuTensor) -> GpuTensor;
        fn int_max_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_max_abs(tensor: GpuTensor) -> GpuTensor;
        fn int_max_abs_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_min(tensor: GpuTensor) -> GpuTensor;
        fn int_min_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn int_abs(tensor: GpuTensor) -> GpuTensor;
        fn int_swap_dims(tensor: GpuTensor, dim1: usize, dim2: usize) -> GpuTensor;
        fn int_permute(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn int_flip(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn int_random(shape: Shape, distribution: Distribution, device: &GpuDevice, dtype: IntDType) -> GpuTensor;
        fn int_sign(tensor: GpuTensor) -> GpuTensor;
        fn int_expand(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn bitwise_and(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bitwise_and_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn bitwise_or(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bitwise_or_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn bitwise_xor(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bitwise_xor_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn bitwise_not(tensor: GpuTensor) -> GpuTensor;
        fn bitwise_left_shift(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bitwise_left_shift_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn bitwise_right_shift(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn bitwise_right_shift_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn int_cast(tensor: GpuTensor, dtype: IntDType) -> GpuTensor;
        fn int_unfold(tensor: GpuTensor, dim: usize, size: usize, step: usize) -> GpuTensor;
    }

    async fn int_into_data(tensor: GpuTensor) -> Result<TensorData, ExecutionError> {
        <Cube as IntTensorOps<Cube>>::int_into_data(tensor).await
    }

    fn int_to_device(tensor: GpuTensor, device: &GpuDevice) -> GpuTensor {
        peer::to_device(tensor, *device)
    }

    fn int_matmul(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor {
        product::product(lhs, rhs)
    }

    /// As the sum of one dimension, for the reason given at `float_sum`.
    fn int_sum(tensor: GpuTensor) -> GpuTensor {
        Self::int_sum_dim(as_row(tensor), 0)
    }

    fn int_prod(tensor: GpuTensor) -> GpuTensor {
        Self::int_prod_dim(as_row(tensor), 0)
    }
}
