//! The functions of `rocblas.h` and `rocblas-beta.h` that products need.

use super::gemv::GemvFunctions;
use crate::symbols::functions;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// A pointer to constant data of the host or of the device.
pub(crate) type Data = *const c_void;

functions! {
    /// The functions of `rocblas.h`.
    RocblasFunctions {
        create: "create_handle", fn(*mut *mut c_void) -> c_int;
        destroy: "destroy_handle", fn(*mut c_void) -> c_int;
        version: "get_version_string", fn(*mut c_char, usize) -> c_int;
        set_math: "set_math_mode", fn(*mut c_void, c_int) -> c_int;
        set_atomics: "set_atomics_mode", fn(*mut c_void, c_int) -> c_int;
        batched: "gemm_strided_batched_ex", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, Data, Data, c_int, c_int, i64, Data, c_int, c_int, i64, Data, Data,
            c_int, c_int, i64, *mut c_void, c_int, c_int, i64, c_int, c_int, c_int, i32, c_uint,
        ) -> c_int;
        gemm: "gemm_ex", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, Data, Data, c_int, c_int, Data, c_int, c_int, Data, Data, c_int,
            c_int, *mut c_void, c_int, c_int, c_int, c_int, i32, c_uint,
        ) -> c_int;
    }
}

functions! {
    /// The functions of `rocblas.h` for a matrix and a vector. A version that lacks one of them
    /// offers no `gemv`.
    RocblasGemvFunctions {
        single: "sgemv", fn(
            *mut c_void, c_int, c_int, c_int, Data, Data, c_int, Data, c_int, Data, *mut c_void, c_int,
        ) -> c_int;
        batched: "sgemv_strided_batched", fn(
            *mut c_void, c_int, c_int, c_int, Data, Data, c_int, i64, Data, c_int, i64, Data, *mut c_void, c_int, i64, c_int,
        ) -> c_int;
        half: "hshgemv_strided_batched", fn(
            *mut c_void, c_int, c_int, c_int, Data, Data, c_int, i64, Data, c_int, i64, Data, *mut c_void, c_int, i64, c_int,
        ) -> c_int;
        bfloat: "tstgemv_strided_batched", fn(
            *mut c_void, c_int, c_int, c_int, Data, Data, c_int, i64, Data, c_int, i64, Data, *mut c_void, c_int, i64, c_int,
        ) -> c_int;
    }
}

functions! {
    /// The functions of `rocblas-beta.h`, which list solutions.
    SolutionFunctions {
        batched: "gemm_strided_batched_ex_get_solutions", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, Data, Data, c_int, c_int, i64, Data, c_int, c_int, i64, Data, Data,
            c_int, c_int, i64, *mut c_void, c_int, c_int, i64, c_int, c_int, c_int, c_uint, *mut i32, *mut i32,
        ) -> c_int;
        gemm: "gemm_ex_get_solutions", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, Data, Data, c_int, c_int, Data, c_int, c_int, Data, Data, c_int,
            c_int, *mut c_void, c_int, c_int, c_int, c_int, c_uint, *mut i32, *mut i32,
        ) -> c_int;
    }
}

impl From<RocblasGemvFunctions> for GemvFunctions {
    fn from(table: RocblasGemvFunctions) -> Self {
        Self {
            single: table.single,
            batched: table.batched,
            half: table.half,
            bfloat: table.bfloat,
        }
    }
}
