//! Listing solutions: the beta functions `rocblas_gemm_ex_get_solutions` and
//! `rocblas_gemm_strided_batched_ex_get_solutions`.

use crate::call::{GemmArguments, SOLUTIONS, product_functions};
use crate::numbers::{RocblasStatus, guarded};
use std::ffi::{c_int, c_uint, c_void};

product_functions! {
    rocblas_gemm_ex_get_solutions, rocblas_gemm_strided_batched_ex_get_solutions(
        _flags: c_uint,
        list_array: *mut i32,
        list_size: *mut i32
    ) -> list(list_array, list_size)
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
