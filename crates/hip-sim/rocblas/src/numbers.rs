//! The numbers of `rocblas-types.h`.

use hip_sim::MatrixType;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `rocblas_operation_none`.
pub const OPERATION_NONE: c_int = 111;
/// `rocblas_operation_transpose`.
pub const OPERATION_TRANSPOSE: c_int = 112;
/// `rocblas_operation_conjugate_transpose`, the same as a transposition for real numbers.
pub const OPERATION_CONJUGATE_TRANSPOSE: c_int = 113;
/// `rocblas_datatype_f16_r`.
pub const F16: c_int = 150;
/// `rocblas_datatype_f32_r`.
pub const F32: c_int = 151;
/// `rocblas_datatype_bf16_r`.
pub const BF16: c_int = 168;
/// `rocblas_gemm_algo_standard`.
pub const ALGO_STANDARD: c_int = 0;
/// `rocblas_gemm_algo_solution_index`.
pub const ALGO_SOLUTION_INDEX: c_int = 1;
/// `rocblas_default_math`.
pub const DEFAULT_MATH: c_int = 0;
/// `rocblas_xf32_xdl_math_op`.
pub const XF32_MATH: c_int = 1;

/// `rocblas_status` other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum RocblasStatus {
    /// `rocblas_status_invalid_handle`.
    InvalidHandle = 1,
    /// `rocblas_status_not_implemented`: a combination of types.
    NotImplemented = 2,
    /// `rocblas_status_invalid_pointer`.
    InvalidPointer = 3,
    /// `rocblas_status_invalid_size`.
    InvalidSize = 4,
    /// `rocblas_status_internal_error`: an injected fault, or a panic in the simulator.
    InternalError = 6,
    /// `rocblas_status_invalid_value`: an unknown enum.
    InvalidValue = 11,
}

/// Runs `body` and returns its C status.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), RocblasStatus>) -> c_int {
    // A panic must not cross the C boundary.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status as c_int,
        Err(_) => RocblasStatus::InternalError as c_int,
    }
}

pub(crate) fn matrix_type(number: c_int) -> Result<MatrixType, RocblasStatus> {
    match number {
        F16 => Ok(MatrixType::F16),
        F32 => Ok(MatrixType::F32),
        BF16 => Ok(MatrixType::Bf16),
        _ => Err(RocblasStatus::NotImplemented),
    }
}

pub(crate) fn is_transposed(operation: c_int) -> Result<bool, RocblasStatus> {
    match operation {
        OPERATION_NONE => Ok(false),
        OPERATION_TRANSPOSE | OPERATION_CONJUGATE_TRANSPOSE => Ok(true),
        _ => Err(RocblasStatus::InvalidValue),
    }
}
