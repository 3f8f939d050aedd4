//! Operations on floating-point tensors.

use super::{Cube, Gpu, Tensor, as_row, delegate};
use crate::{device::GpuDevice, product};
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData,
    ops::{FloatTensorOps, GridSampleOptions},
    tensor::IndexingUpdateOp,
};

delegate! {
    FloatTensorOps {
        fn float_from_data(data: TensorData, device: &GpuDevice) -> Tensor;
        fn float_random(shape: Shape, distribution: Distribution, device: &GpuDevice, dtype: FloatDType) -> Tensor;
        fn float_zeros(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> Tensor;
        fn float_ones(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> Tensor;
        fn float_full(shape: Shape, fill_value: Scalar, device: &GpuDevice, dtype: FloatDType) -> Tensor;
        fn float_device(tensor: &Tensor) -> GpuDevice;
        fn float_to_device(tensor: Tensor, device: &GpuDevice) -> Tensor;
        fn float_into_int(tensor: Tensor, out_dtype: IntDType) -> Tensor;
        fn float_empty(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> Tensor;
        fn float_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor;
        fn float_add(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_add_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn float_clamp(tensor: Tensor, min: Scalar, max: Scalar) -> Tensor;
        fn float_sub(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_sub_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn float_mul(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_mul_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn float_div(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_div_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn float_remainder(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_remainder_scalar(lhs: Tensor, rhs: Scalar) -> Tensor;
        fn float_cross(lhs: Tensor, rhs: Tensor, dim: usize) -> Tensor;
        fn float_recip(tensor: Tensor) -> Tensor;
        fn float_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor;
        fn float_permute(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn float_flip(tensor: Tensor, axes: &[usize]) -> Tensor;
        fn float_reshape(tensor: Tensor, shape: Shape) -> Tensor;
        fn float_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor;
        fn float_scatter_add(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor;
        fn float_scatter_nd(data: Tensor, indices: Tensor, values: Tensor, reduction: IndexingUpdateOp) -> Tensor;
        fn float_gather_nd(data: Tensor, indices: Tensor) -> Tensor;
        fn float_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor;
        fn float_select_add(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor;
        fn float_slice(tensor: Tensor, slices: &[Slice]) -> Tensor;
        fn float_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor;
        fn float_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor;
        fn float_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor;
        fn float_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn float_greater(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_greater_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn float_greater_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_greater_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn float_lower(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_lower_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn float_lower_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_lower_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor;
        fn float_sum_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_prod_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_mean_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_cumsum(tensor: Tensor, dim: usize) -> Tensor;
        fn float_cumprod(tensor: Tensor, dim: usize) -> Tensor;
        fn float_cummin(tensor: Tensor, dim: usize) -> Tensor;
        fn float_cummax(tensor: Tensor, dim: usize) -> Tensor;
        fn float_cast(tensor: Tensor, dtype: FloatDType) -> Tensor;
        fn float_exp(tensor: Tensor) -> Tensor;
        fn float_log(tensor: Tensor) -> Tensor;
        fn float_log1p(tensor: Tensor) -> Tensor;
        fn float_powf(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_powf_scalar_impl(tensor: Tensor, value: Scalar) -> Tensor;
        fn float_sqrt(tensor: Tensor) -> Tensor;
        fn float_abs(tensor: Tensor) -> Tensor;
        fn float_cos(tensor: Tensor) -> Tensor;
        fn float_sin(tensor: Tensor) -> Tensor;
        fn float_tan(tensor: Tensor) -> Tensor;
        fn float_cosh(tensor: Tensor) -> Tensor;
        fn float_sinh(tensor: Tensor) -> Tensor;
        fn float_tanh(tensor: Tensor) -> Tensor;
        fn float_acos(tensor: Tensor) -> Tensor;
        fn float_acosh(tensor: Tensor) -> Tensor;
        fn float_asin(tensor: Tensor) -> Tensor;
        fn float_asinh(tensor: Tensor) -> Tensor;
        fn float_atan(tensor: Tensor) -> Tensor;
        fn float_atanh(tensor: Tensor) -> Tensor;
        fn float_atan2(lhs: Tensor, rhs: Tensor) -> Tensor;
        fn float_round(tensor: Tensor) -> Tensor;
        fn float_floor(tensor: Tensor) -> Tensor;
        fn float_ceil(tensor: Tensor) -> Tensor;
        fn float_trunc(tensor: Tensor) -> Tensor;
        fn float_erf(tensor: Tensor) -> Tensor;
        fn float_argmax(tensor: Tensor, dim: usize, out_dtype: IntDType) -> Tensor;
        fn float_argtopk(tensor: Tensor, dim: usize, k: usize, out_dtype: IntDType) -> Tensor;
        fn float_topk(tensor: Tensor, dim: usize, k: usize) -> Tensor;
        fn float_argmin(tensor: Tensor, dim: usize, out_dtype: IntDType) -> Tensor;
        fn float_max(tensor: Tensor) -> Tensor;
        fn float_max_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_min(tensor: Tensor) -> Tensor;
        fn float_min_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_max_abs(tensor: Tensor) -> Tensor;
        fn float_max_abs_dim(tensor: Tensor, dim: usize) -> Tensor;
        fn float_sign(tensor: Tensor) -> Tensor;
        fn float_expand(tensor: Tensor, shape: Shape) -> Tensor;
        fn float_grid_sample_2d(tensor: Tensor, grid: Tensor, options: GridSampleOptions) -> Tensor;
        fn float_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor;
        fn float_is_nan(tensor: Tensor, out_dtype: BoolDType) -> Tensor;
        fn float_is_inf(tensor: Tensor, out_dtype: BoolDType) -> Tensor;
    }

    async fn float_into_data(tensor: Tensor) -> Result<TensorData, ExecutionError> {
        <Cube as FloatTensorOps<Cube>>::float_into_data(tensor).await
    }

    fn float_matmul(lhs: Tensor, rhs: Tensor) -> Tensor {
        product::product(lhs, rhs)
    }

    /// As the sum of one dimension: burn's own kernel adds atomically, in an order that changes from run to run.
    fn float_sum(tensor: Tensor) -> Tensor {
        Self::float_sum_dim(as_row(tensor), 0)
    }

    fn float_prod(tensor: Tensor) -> Tensor {
        Self::float_prod_dim(as_row(tensor), 0)
    }
}
