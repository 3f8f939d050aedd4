//! Listing solutions: the beta functions `rocblas_gemm_ex_get_solutions` and
//! `rocblas_gemm_strided_batched_ex_get_solutions`.

use crate::call::{GemmArguments, SOLUTIONS};
use crate::numbers::{RocblasStatus, guarded};
use std::ffi::{c_int, c_uint, c_void};

/// `rocblas_gemm_ex_get_solutions`.
///
/// # Safety
///
/// `handle` came from this library; alpha and beta can be read; `list_array` is null or has room
/// for `list_size` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_ex_get_solutions(
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
    _flags: c_uint,
    list_array: *mut i32,
    list_size: *mut i32,
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
    unsafe { list(&arguments, list_array, list_size) }
}

/// `rocblas_gemm_strided_batched_ex_get_solutions`.
///
/// # Safety
///
/// `handle` came from this library; alpha and beta can be read; `list_array` is null or has room
/// for `list_size` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rocblas_gemm_strided_batched_ex_get_solutions(
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
    _flags: c_uint,
    list_array: *mut i32,
    list_size: *mut i32,
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
    unsafe { list(&arguments, list_array, list_size) }
}

/// Writes the number of solutions where `list_array` is null, else as many solutions as there is
/// room for.
///
/// # Safety
///
/// As for [`rocblas_gemm_ex_get_solutions`].
unsafe fn list(arguments: &GemmArguments, list_array: *mut i32, list_size: *mut i32) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { arguments.product(0)? };
        if list_size.is_null() {
            return Err(RocblasStatus::InvalidPointer);
        }
        if list_array.is_null() {
            // SAFETY: as the caller promises.
            unsafe { list_size.write(SOLUTIONS.len() as i32) };
            return Ok(());
        }
        // SAFETY: as the caller promises.
        let room = usize::try_from(unsafe { list_size.read() }).unwrap_or(0);
        for (index, solution) in SOLUTIONS.iter().take(room).enumerate() {
            // SAFETY: as the caller promises; `index` is below the number that fits.
            unsafe { list_array.add(index).write(*solution) };
        }
        Ok(())
    })
}
