//! The numbers of `rocblas-types.h`. `tests/declarations` compares them with the published
//! header.

use crate::{library_error::StatusNames, number_type::NumberType};
use std::ffi::c_int;

/// The numbers of rocBLAS.
#[derive(Debug, Clone, Copy)]
pub struct RocblasNumbers;

impl RocblasNumbers {
    /// `rocblas_operation`: a matrix as it is, and transposed.
    pub const OPERATIONS: [c_int; 2] = [111, 112];
    /// `rocblas_gemm_algo_standard`.
    pub const STANDARD: c_int = 0;
    /// `rocblas_gemm_algo_solution_index`.
    pub const SOLUTION_INDEX: c_int = 1;
    /// `rocblas_default_math`.
    pub const DEFAULT_MATH: c_int = 0;
    /// `rocblas_xf32_xdl_math_op`.
    pub const XF32_MATH: c_int = 1;
    /// `rocblas_atomics_not_allowed`: sums of every run in the same order.
    pub const NO_ATOMICS: c_int = 0;
    /// The statuses of a product that the library does not have: not implemented, excluded from the
    /// build, another architecture.
    pub const UNSUPPORTED: &'static [c_int] = &[2, 14, 15];
    /// `rocblas_status`.
    pub const STATUSES: StatusNames = &[
        (1, "rocblas_status_invalid_handle"),
        (2, "rocblas_status_not_implemented"),
        (3, "rocblas_status_invalid_pointer"),
        (4, "rocblas_status_invalid_size"),
        (5, "rocblas_status_memory_error"),
        (6, "rocblas_status_internal_error"),
        (7, "rocblas_status_perf_degraded"),
        (11, "rocblas_status_invalid_value"),
        (13, "rocblas_status_check_numerics_fail"),
        (14, "rocblas_status_excluded_from_build"),
        (15, "rocblas_status_arch_mismatch"),
    ];

    /// `rocblas_datatype`; `None` for types of 8 bits, which `rocblas_gemm_ex` does not have.
    pub const fn number(number: NumberType) -> Option<c_int> {
        match number {
            NumberType::F16 => Some(150),
            NumberType::F32 => Some(151),
            NumberType::Bf16 => Some(168),
            NumberType::E4m3
            | NumberType::E5m2
            | NumberType::E4m3Fnuz
            | NumberType::E5m2Fnuz
            | NumberType::I8
            | NumberType::I32 => None,
        }
    }
}
