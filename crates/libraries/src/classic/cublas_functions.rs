//! The functions of `cublas_v2.h` that products need.

use super::gemv::GemvFunctions;
use crate::symbols::functions;
use std::ffi::{c_int, c_longlong, c_void};

functions! {
    /// The functions of `cublas_v2.h`.
    CublasFunctions {
        create: "Create_v2", fn(*mut *mut c_void) -> c_int;
        destroy: "Destroy_v2", fn(*mut c_void) -> c_int;
        version: "GetVersion_v2", fn(*mut c_void, *mut c_int) -> c_int;
        set_math_mode: "SetMathMode", fn(*mut c_void, c_int) -> c_int;
        gemm: "GemmEx", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_int, *const c_void, c_int,
            c_int, *const c_void, *mut c_void, c_int, c_int, c_int, c_int,
        ) -> c_int;
        batched: "GemmStridedBatchedEx", fn(
            *mut c_void, c_int, c_int, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_int, c_longlong,
            *const c_void, c_int, c_int, c_longlong, *const c_void, *mut c_void, c_int, c_int, c_longlong, c_int, c_int,
            c_int,
        ) -> c_int;
    }
}

functions! {
    /// The functions of `cublas_v2.h` for a matrix and a vector. A version that lacks one of them
    /// offers no `gemv`.
    CublasGemvFunctions {
        single: "Sgemv_v2", fn(
            *mut c_void, c_int, c_int, c_int, *const c_void, *const c_void, c_int, *const c_void, c_int, *const c_void,
            *mut c_void, c_int,
        ) -> c_int;
        batched: "SgemvStridedBatched", fn(
            *mut c_void, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_longlong, *const c_void, c_int,
            c_longlong, *const c_void, *mut c_void, c_int, c_longlong, c_int,
        ) -> c_int;
        half: "HSHgemvStridedBatched", fn(
            *mut c_void, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_longlong, *const c_void, c_int,
            c_longlong, *const c_void, *mut c_void, c_int, c_longlong, c_int,
        ) -> c_int;
        bfloat: "TSTgemvStridedBatched", fn(
            *mut c_void, c_int, c_int, c_int, *const c_void, *const c_void, c_int, c_longlong, *const c_void, c_int,
            c_longlong, *const c_void, *mut c_void, c_int, c_longlong, c_int,
        ) -> c_int;
    }
}

impl From<CublasGemvFunctions> for GemvFunctions {
    fn from(table: CublasGemvFunctions) -> Self {
        Self {
            single: table.single,
            batched: table.batched,
            half: table.half,
            bfloat: table.bfloat,
        }
    }
}
