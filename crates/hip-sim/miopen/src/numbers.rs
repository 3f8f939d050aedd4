//! The numbers of `miopen/miopen.h`, and the structure that callers allocate.

use hip_sim::MatrixType;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `miopenHalf`.
pub const HALF: c_int = 0;
/// `miopenFloat`.
pub const FLOAT: c_int = 1;
/// `miopenBFloat16`.
pub const BFLOAT16: c_int = 5;
/// `miopenConvolution`.
pub const CONVOLUTION: c_int = 0;
/// `miopenTranspose`.
pub const TRANSPOSE: c_int = 1;
/// `miopenConvolutionAlgoGEMM`.
pub const ALGORITHM_GEMM: c_int = 0;
/// `miopenConvolutionAlgoDirect`.
pub const ALGORITHM_DIRECT: c_int = 1;
/// `miopenConvolutionAlgoWinograd`.
pub const ALGORITHM_WINOGRAD: c_int = 3;

/// `miopenSoftmaxAlgorithm_t`: fast, accurate, logarithm.
pub const SOFTMAX_ALGORITHMS: [c_int; 3] = [0, 1, 2];
/// `miopenSoftmaxMode_t`: instance, channel.
pub const SOFTMAX_MODES: [c_int; 2] = [0, 1];
/// `miopenActivationMode_t`: LOGISTIC, TANH, RELU, CLIPPEDRELU.
pub const ACTIVATIONS: [c_int; 4] = [1, 2, 3, 7];
/// `miopenPoolingMode_t`: Max, Average, `AverageInclusive`.
pub const POOLS: [c_int; 3] = [0, 1, 2];
/// `miopenBatchNormMode_t`: `PerActivation`, Spatial.
pub const BATCH_NORMS: [c_int; 2] = [0, 1];
/// `miopenNormMode_t`: `MIOPEN_ELEMENTWISE_AFFINE`, `MIOPEN_WEIGHT_BIAS`.
pub const NORMS: [c_int; 2] = [0, 1];
/// `miopenNormMode_t`: `MIOPEN_ELEMENTWISE_AFFINE_T5`, `MIOPEN_WEIGHT_BIAS_T5`.
pub const T5_NORMS: [c_int; 2] = [4, 5];
/// `miopenReduceTensorOp_t`: ADD, MUL, MIN, MAX, AMAX, AVG, NORM1, NORM2.
pub const REDUCTIONS: [c_int; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
/// `MIOPEN_PROPAGATE_NAN`.
pub const PROPAGATE_NAN: c_int = 1;

/// `miopenStatus_t` other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum MiopenStatus {
    /// `miopenStatusBadParm`.
    BadParm = 3,
    /// `miopenStatusInternalError`: an injected fault, or a panic in the simulator.
    InternalError = 5,
    /// `miopenStatusNotImplemented`: a combination of types.
    NotImplemented = 6,
}

/// `miopenConvSolution_t`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct ConvolutionSolution {
    /// Milliseconds, estimated.
    pub time: f32,
    /// Bytes of workspace that it needs.
    pub workspace_size: usize,
    /// The number by which it is run.
    pub solution_id: u64,
    /// `miopenConvAlgorithm_t`.
    pub algorithm: c_int,
}

/// Runs `body` and returns its C status.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), MiopenStatus>) -> c_int {
    // A panic must not cross the C boundary.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status as c_int,
        Err(_) => MiopenStatus::InternalError as c_int,
    }
}

pub(crate) fn element_type(number: c_int) -> Result<MatrixType, MiopenStatus> {
    match number {
        HALF => Ok(MatrixType::F16),
        FLOAT => Ok(MatrixType::F32),
        BFLOAT16 => Ok(MatrixType::Bf16),
        _ => Err(MiopenStatus::NotImplemented),
    }
}

/// Writes a new object through a pointer of the caller.
///
/// # Safety
///
/// `place` is null or can be written.
pub(crate) unsafe fn create<T>(place: *mut *mut c_void, value: T) -> Result<(), MiopenStatus> {
    if place.is_null() {
        return Err(MiopenStatus::BadParm);
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
pub(crate) unsafe fn destroy<T>(object: *mut c_void) -> Result<(), MiopenStatus> {
    if object.is_null() {
        return Err(MiopenStatus::BadParm);
    }
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(object.cast::<T>()) });
    Ok(())
}

/// The numbers of an array of the caller, none of them below `least`.
///
/// # Safety
///
/// `array` is null or has `count` numbers.
pub(crate) unsafe fn numbers(
    array: *const c_int,
    count: c_int,
    least: usize,
) -> Result<Vec<usize>, MiopenStatus> {
    let count = usize::try_from(count).map_err(|_| MiopenStatus::BadParm)?;
    if array.is_null() {
        return Err(MiopenStatus::BadParm);
    }
    (0..count)
        .map(|index| {
            // SAFETY: as the caller promises.
            let number = usize::try_from(unsafe { array.add(index).read() });
            number
                .ok()
                .filter(|number| *number >= least)
                .ok_or(MiopenStatus::BadParm)
        })
        .collect()
}
