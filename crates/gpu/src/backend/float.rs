//! Operations on floating-point tensors.

use super::{Cube, Gpu, as_row, delegate};
use crate::{device::GpuDevice, peer, product, runtime::GpuTensor};
use burn_backend::{
    BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice,
    TensorData,
    ops::{FloatTensorOps, GridSampleOptions},
    tensor::IndexingUpdateOp,
};

delegate! {
    FloatTensorOps {
        fn float_from_data(data: TensorData, device: &GpuDevice) -> GpuTensor;
        fn float_random(shape: Shape, distribution: Distribution, device: &GpuDevice, dtype: FloatDType) -> GpuTensor;
        fn float_zeros(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> GpuTensor;
        fn float_ones(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> GpuTensor;
        fn float_full(shape: Shape, fill_value: Scalar, device: &GpuDevice, dtype: FloatDType) -> GpuTensor;
        fn float_device(tensor: &GpuTensor) -> GpuDevice;
        fn float_into_int(tensor: GpuTensor, out_dtype: IntDType) -> GpuTensor;
        fn float_empty(shape: Shape, device: &GpuDevice, dtype: FloatDType) -> GpuTensor;
        fn float_repeat_dim(tensor: GpuTensor, dim: usize, times: usize) -> GpuTensor;
        fn float_add(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_add_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn float_sub(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_sub_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn float_mul(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_mul_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn float_div(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_div_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn float_remainder(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_remainder_scalar(lhs: GpuTensor, rhs: Scalar) -> GpuTensor;
        fn float_cross(lhs: GpuTensor, rhs: GpuTensor, dim: usize) -> GpuTensor;
        fn float_recip(tensor: GpuTensor) -> GpuTensor;
        fn float_swap_dims(tensor: GpuTensor, dim1: usize, dim2: usize) -> GpuTensor;
        fn float_permute(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn float_flip(tensor: GpuTensor, axes: &[usize]) -> GpuTensor;
        fn float_reshape(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn float_gather(dim: usize, tensor: GpuTensor, indices: GpuTensor) -> GpuTensor;
        fn float_scatter_add(dim: usize, tensor: GpuTensor, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn float_scatter_nd(data: GpuTensor, indices: GpuTensor, values: GpuTensor, reduction: IndexingUpdateOp) -> GpuTensor;
        fn float_gather_nd(data: GpuTensor, indices: GpuTensor) -> GpuTensor;
        fn float_select(tensor: GpuTensor, dim: usize, indices: GpuTensor) -> GpuTensor;
        fn float_select_add(tensor: GpuTensor, dim: usize, indices: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn float_slice(tensor: GpuTensor, slices: &[Slice]) -> GpuTensor;
        fn float_slice_assign(tensor: GpuTensor, slices: &[Slice], value: GpuTensor) -> GpuTensor;
        fn float_mask_where(tensor: GpuTensor, mask: GpuTensor, value: GpuTensor) -> GpuTensor;
        fn float_mask_fill(tensor: GpuTensor, mask: GpuTensor, value: Scalar) -> GpuTensor;
        fn float_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn float_greater(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_greater_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn float_greater_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_greater_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn float_lower(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_lower_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn float_lower_equal(lhs: GpuTensor, rhs: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_lower_equal_elem(lhs: GpuTensor, rhs: Scalar, out_dtype: BoolDType) -> GpuTensor;
        fn float_sum_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_prod_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_mean_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_cumsum(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_cumprod(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_cummin(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_cummax(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_cast(tensor: GpuTensor, dtype: FloatDType) -> GpuTensor;
        fn float_exp(tensor: GpuTensor) -> GpuTensor;
        fn float_log(tensor: GpuTensor) -> GpuTensor;
        fn float_log1p(tensor: GpuTensor) -> GpuTensor;
        fn float_powf(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_powf_scalar_impl(tensor: GpuTensor, value: Scalar) -> GpuTensor;
        fn float_sqrt(tensor: GpuTensor) -> GpuTensor;
        fn float_abs(tensor: GpuTensor) -> GpuTensor;
        fn float_cos(tensor: GpuTensor) -> GpuTensor;
        fn float_sin(tensor: GpuTensor) -> GpuTensor;
        fn float_tan(tensor: GpuTensor) -> GpuTensor;
        fn float_cosh(tensor: GpuTensor) -> GpuTensor;
        fn float_sinh(tensor: GpuTensor) -> GpuTensor;
        fn float_tanh(tensor: GpuTensor) -> GpuTensor;
        fn float_acos(tensor: GpuTensor) -> GpuTensor;
        fn float_acosh(tensor: GpuTensor) -> GpuTensor;
        fn float_asin(tensor: GpuTensor) -> GpuTensor;
        fn float_asinh(tensor: GpuTensor) -> GpuTensor;
        fn float_atan(tensor: GpuTensor) -> GpuTensor;
        fn float_atanh(tensor: GpuTensor) -> GpuTensor;
        fn float_atan2(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor;
        fn float_round(tensor: GpuTensor) -> GpuTensor;
        fn float_floor(tensor: GpuTensor) -> GpuTensor;
        fn float_ceil(tensor: GpuTensor) -> GpuTensor;
        fn float_trunc(tensor: GpuTensor) -> GpuTensor;
        fn float_erf(tensor: GpuTensor) -> GpuTensor;
        fn float_argmax(tensor: GpuTensor, dim: usize, out_dtype: IntDType) -> GpuTensor;
        fn float_argtopk(tensor: GpuTensor, dim: usize, k: usize, out_dtype: IntDType) -> GpuTensor;
        fn float_topk(tensor: GpuTensor, dim: usize, k: usize) -> GpuTensor;
        fn float_argmin(tensor: GpuTensor, dim: usize, out_dtype: IntDType) -> GpuTensor;
        fn float_max(tensor: GpuTensor) -> GpuTensor;
        fn float_max_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_min(tensor: GpuTensor) -> GpuTensor;
        fn float_min_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_max_abs(tensor: GpuTensor) -> GpuTensor;
        fn float_max_abs_dim(tensor: GpuTensor, dim: usize) -> GpuTensor;
        fn float_sign(tensor: GpuTensor) -> GpuTensor;
        fn float_expand(tensor: GpuTensor, shape: Shape) -> GpuTensor;
        fn float_grid_sample_2d(tensor: GpuTensor, grid: GpuTensor, options: GridSampleOptions) -> GpuTensor;
        fn float_unfold(tensor: GpuTensor, dim: usize, size: usize, step: usize) -> GpuTensor;
        fn float_is_nan(tensor: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
        fn float_is_inf(tensor: GpuTensor, out_dtype: BoolDType) -> GpuTensor;
    }

    /// By comparisons, which leave NaN as it is.
    fn float_clamp(tensor: GpuTensor, min: Scalar, max: Scalar) -> GpuTensor {
        // The kernel of burn-cubecl 0.21 makes NaN a limit, which would hide it from `finite`;
        // PyTorch leaves it.
        Self::float_clamp_min(Self::float_clamp_max(tensor, max), min)
    }

    async fn float_into_data(tensor: GpuTensor) -> Result<TensorData, ExecutionError> {
        <Cube as FloatTensorOps<Cube>>::float_into_data(tensor).await
    }

    fn float_to_device(tensor: GpuTensor, device: &GpuDevice) -> GpuTensor {
        peer::to_device(tensor, *device)
    }

    fn float_matmul(lhs: GpuTensor, rhs: GpuTensor) -> GpuTensor {
        product::product(lhs, rhs)
    }

    /// As the sum of one dimension.
    fn float_sum(tensor: GpuTensor) -> GpuTensor {
        // burn's own kernel adds atomically, in an order that changes from run to run.
        Self::float_sum_dim(as_row(tensor), 0)
    }

    fn float_prod(tensor: GpuTensor) -> GpuTensor {
        Self::float_prod_dim(as_row(tensor), 0)
    }
}
