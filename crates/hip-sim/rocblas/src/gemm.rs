//! Products: `rocblas_gemm_ex` and `rocblas_gemm_strided_batched_ex`.

use crate::call::{GemmArguments, product_functions};
use crate::numbers::{RocblasStatus, guarded};
use hip_sim::faults;
use std::ffi::{c_int, c_uint, c_void};

product_functions! {
    rocblas_gemm_ex, rocblas_gemm_strided_batched_ex(solution_index: i32, _flags: c_uint)
        -> compute(solution_index)
}

/// Computes a product.
///
/// # Safety
///
/// As for [`rocblas_gemm_ex`].
unsafe fn compute(arguments: &GemmArguments, solution: i32) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let product = unsafe { arguments.product(solution)? };
        // SAFETY: as the caller promises.
        unsafe { product.compute(faults()) }.map_err(|_| RocblasStatus::InternalError)
    })
}
