//! Products: `rocblas_gemm_ex` and `rocblas_gemm_strided_batched_ex`.

use crate::call::GemmArguments;
use crate::numbers::{RocblasStatus, guarded};
use hip_sim::faults;
use std::ffi::{c_int, c_uint, c_void};

/// `rocblas_gemm_ex`. The flags are ignored.
///
/// # Safety
///
/// `handle` came from this library; alpha and beta can be read, the elements of A, B and C read,
/// and the elements of D written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_ex(
    handle: *mut c_void,
    trans_a: c_int,
    trans_b: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: *const c_void,
    a_type: c_int,
    lda: c_int,
    b: *const c_void,
    b_type: c_int,
    ldb: c_int,
    beta: *const c_void,
    c: *const c_void,
    c_type: c_int,
    ldc: c_int,
    d: *mut c_void,
    d_type: c_int,
    ldd: c_int,
    compute_type: c_int,
    algo: c_int,
    solution_index: i32,
    _flags: c_uint,
) -> c_int {
    let arguments = GemmArguments {
        handle,
        operations: [trans_a, trans_b],
        sizes: [m, n, k],
        scalars: [alpha, beta],
        a: (a, a_type, lda, 0),
        b: (b, b_type, ldb, 0),
        c: (c, c_type, ldc, 0),
        d: (d.cast_const(), d_type, ldd, 0),
        batch: 1,
        compute: compute_type,
        algo,
    };
    // SAFETY: as the caller promises.
    unsafe { compute(&arguments, solution_index) }
}

/// `rocblas_gemm_strided_batched_ex`. The flags are ignored.
///
/// # Safety
///
/// `handle` came from this library; alpha and beta can be read, the elements of A, B and C read,
/// and the elements of D written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_strided_batched_ex(
    handle: *mut c_void,
    trans_a: c_int,
    trans_b: c_int,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: *const c_void,
    a_type: c_int,
    lda: c_int,
    stride_a: i64,
    b: *const c_void,
    b_type: c_int,
    ldb: c_int,
    stride_b: i64,
    beta: *const c_void,
    c: *const c_void,
    c_type: c_int,
    ldc: c_int,
    stride_c: i64,
    d: *mut c_void,
    d_type: c_int,
    ldd: c_int,
    stride_d: i64,
    batch_count: c_int,
    compute_type: c_int,
    algo: c_int,
    solution_index: i32,
    _flags: c_uint,
) -> c_int {
    let arguments = GemmArguments {
        handle,
        operations: [trans_a, trans_b],
        sizes: [m, n, k],
        scalars: [alpha, beta],
        a: (a, a_type, lda, stride_a),
        b: (b, b_type, ldb, stride_b),
        c: (c, c_type, ldc, stride_c),
        d: (d.cast_const(), d_type, ldd, stride_d),
        batch: batch_count,
        compute: compute_type,
        algo,
    };
    // SAFETY: as the caller promises.
    unsafe { compute(&arguments, solution_index) }
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
