//! The numbers of `hipblas-common.h`, `hipblaslt.h` and `hip/library_types.h`, and the structures
//! that callers allocate.

use hip_sim::MatrixType;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `HIPBLAS_OP_N`.
pub const OP_N: c_int = 111;
/// `HIPBLAS_OP_T`.
pub const OP_T: c_int = 112;
/// `HIPBLAS_COMPUTE_32F`.
pub const COMPUTE_32F: c_int = 2;
/// `HIPBLAS_COMPUTE_32F_FAST_TF32`.
pub const COMPUTE_32F_FAST_TF32: c_int = 6;
/// `HIPBLAS_COMPUTE_32I`.
pub const COMPUTE_32I: c_int = 9;
/// `HIP_R_8I`.
pub const R_8I: c_int = 3;
/// `HIP_R_32I`.
pub const R_32I: c_int = 10;
/// `HIP_R_8F_E4M3_FNUZ`.
pub const R_8F_E4M3_FNUZ: c_int = 1000;
/// `HIP_R_8F_E5M2_FNUZ`.
pub const R_8F_E5M2_FNUZ: c_int = 1001;
/// `HIP_R_32F`.
pub const R_32F: c_int = 0;
/// `HIP_R_16F`.
pub const R_16F: c_int = 2;
/// `HIP_R_16BF`.
pub const R_16BF: c_int = 14;
/// `HIPBLASLT_MATMUL_DESC_TRANSA`.
pub const DESC_TRANSA: c_int = 0;
/// `HIPBLASLT_MATMUL_DESC_TRANSB`.
pub const DESC_TRANSB: c_int = 1;
/// `HIPBLASLT_MATMUL_DESC_EPILOGUE`.
pub const DESC_EPILOGUE: c_int = 2;
/// `HIPBLASLT_MATMUL_DESC_BIAS_POINTER`.
pub const DESC_BIAS_POINTER: c_int = 3;
/// `HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE`.
pub const DESC_BIAS_DATA_TYPE: c_int = 4;
/// `HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER`.
pub const DESC_A_SCALE_POINTER: c_int = 5;
/// `HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER`.
pub const DESC_B_SCALE_POINTER: c_int = 6;
/// `HIPBLASLT_EPILOGUE_DEFAULT`.
pub const EPILOGUE_DEFAULT: u32 = 1;
/// `HIPBLASLT_EPILOGUE_RELU`.
pub const EPILOGUE_RELU: u32 = 2;
/// `HIPBLASLT_EPILOGUE_BIAS`.
pub const EPILOGUE_BIAS: u32 = 4;
/// `HIPBLASLT_EPILOGUE_RELU_BIAS`.
pub const EPILOGUE_RELU_BIAS: u32 = 6;
/// `HIPBLASLT_EPILOGUE_GELU`.
pub const EPILOGUE_GELU: u32 = 32;
/// `HIPBLASLT_EPILOGUE_GELU_BIAS`.
pub const EPILOGUE_GELU_BIAS: u32 = 36;
/// `HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT`.
pub const LAYOUT_BATCH_COUNT: c_int = 0;
/// `HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET`.
pub const LAYOUT_STRIDED_BATCH_OFFSET: c_int = 1;
/// `HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`.
pub const PREF_MAX_WORKSPACE_BYTES: c_int = 1;

/// `hipblasStatus_t` other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum HipblasStatus {
    /// `HIPBLAS_STATUS_NOT_INITIALIZED`.
    NotInitialized = 1,
    /// `HIPBLAS_STATUS_INVALID_VALUE`.
    InvalidValue = 3,
    /// `HIPBLAS_STATUS_INTERNAL_ERROR`: an injected fault, or a panic in the simulator.
    InternalError = 6,
    /// `HIPBLAS_STATUS_NOT_SUPPORTED`: a combination of types.
    NotSupported = 7,
}

/// `hipblasLtMatmulAlgo_t`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct MatmulAlgorithm {
    /// The solution index in the first four bytes.
    pub data: [u8; 16],
    /// Bytes of workspace.
    pub max_workspace_bytes: usize,
}

/// `hipblasLtMatmulHeuristicResult_t`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct HeuristicResult {
    /// The algorithm.
    pub algorithm: MatmulAlgorithm,
    /// Bytes of workspace that it needs.
    pub workspace: usize,
    /// `hipblasStatus_t`.
    pub state: c_int,
    /// How much of the device it fills.
    pub waves: f32,
    /// Not used.
    pub reserved: [c_int; 4],
}

/// Runs `body` and returns its C status.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), HipblasStatus>) -> c_int {
    // A panic must not cross the C boundary.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status as c_int,
        Err(_) => HipblasStatus::InternalError as c_int,
    }
}

pub(crate) fn matrix_type(number: c_int) -> Result<MatrixType, HipblasStatus> {
    match number {
        R_32F => Ok(MatrixType::F32),
        R_16F => Ok(MatrixType::F16),
        R_16BF => Ok(MatrixType::Bf16),
        R_8F_E4M3_FNUZ => Ok(MatrixType::E4m3Fnuz),
        R_8F_E5M2_FNUZ => Ok(MatrixType::E5m2Fnuz),
        R_8I => Ok(MatrixType::I8),
        R_32I => Ok(MatrixType::I32),
        _ => Err(HipblasStatus::NotSupported),
    }
}

/// The value of an attribute that a caller passes by its address and size.
///
/// # Safety
///
/// `buffer` is null or can be read for `size` bytes.
pub(crate) unsafe fn attribute<T: Copy>(
    buffer: *const std::ffi::c_void,
    size: usize,
) -> Result<T, HipblasStatus> {
    if buffer.is_null() || size < size_of::<T>() {
        return Err(HipblasStatus::InvalidValue);
    }
    // SAFETY: as the caller promises; the size was compared.
    Ok(unsafe { buffer.cast::<T>().read_unaligned() })
}

/// Writes a new object through a pointer of the caller.
///
/// # Safety
///
/// `place` is null or can be written.
pub(crate) unsafe fn create<T>(
    place: *mut *mut std::ffi::c_void,
    value: T,
) -> Result<(), HipblasStatus> {
    if place.is_null() {
        return Err(HipblasStatus::InvalidValue);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(Box::into_raw(Box::new(value)).cast()) };
    Ok(())
}

/// Frees an object of [`create`].
///
/// # Safety
///
/// `object` is null or came from [`create`] with the same type, and is not used any more.
pub(crate) unsafe fn destroy<T>(object: *mut std::ffi::c_void) -> Result<(), HipblasStatus> {
    if object.is_null() {
        return Err(HipblasStatus::InvalidValue);
    }
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(object.cast::<T>()) });
    Ok(())
}
