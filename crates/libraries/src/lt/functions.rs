//! The functions of `cublasLt.h` and `hipblaslt.h`, which have the same parameters in both.

use crate::symbols::{Opaque, functions};
use std::ffi::{c_int, c_void};

functions! {
    /// The functions that products need.
    LtFunctions {
        create: "Create", fn(*mut Opaque) -> c_int;
        destroy: "Destroy", fn(Opaque) -> c_int;
        operation_create: "MatmulDescCreate", fn(*mut Opaque, c_int, c_int) -> c_int;
        operation_destroy: "MatmulDescDestroy", fn(Opaque) -> c_int;
        operation_set: "MatmulDescSetAttribute", fn(Opaque, c_int, *const c_void, usize) -> c_int;
        layout_create: "MatrixLayoutCreate", fn(*mut Opaque, c_int, u64, u64, i64) -> c_int;
        layout_destroy: "MatrixLayoutDestroy", fn(Opaque) -> c_int;
        layout_set: "MatrixLayoutSetAttribute", fn(Opaque, c_int, *const c_void, usize) -> c_int;
        preference_create: "MatmulPreferenceCreate", fn(*mut Opaque) -> c_int;
        preference_destroy: "MatmulPreferenceDestroy", fn(Opaque) -> c_int;
        preference_set: "MatmulPreferenceSetAttribute", fn(Opaque, c_int, *const c_void, usize) -> c_int;
        heuristic: "MatmulAlgoGetHeuristic",
            fn(Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, c_int, *mut c_void, *mut c_int) -> c_int;
        matmul: "Matmul", fn(
            Opaque, Opaque, *const c_void, Opaque, Opaque, Opaque, Opaque, *const c_void, Opaque, Opaque, Opaque, Opaque,
            *const c_void, Opaque, usize, Opaque,
        ) -> c_int;
    }
}

/// `cublasLtMatmulAlgoConfigGetAttribute`: algorithm, attribute, buffer, its bytes, written bytes.
pub(crate) type ConfigurationOf =
    unsafe extern "C" fn(*const c_void, c_int, *mut c_void, usize, *mut usize) -> c_int;
