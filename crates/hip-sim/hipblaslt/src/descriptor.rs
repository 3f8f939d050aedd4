//! Descriptors of operations, of matrices and of preferences.

use crate::numbers::{
    COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_32I, DESC_A_SCALE_POINTER, DESC_B_SCALE_POINTER,
    DESC_BIAS_DATA_TYPE, DESC_BIAS_POINTER, DESC_EPILOGUE, DESC_TRANSA, DESC_TRANSB, EPILOGUE_BIAS,
    EPILOGUE_DEFAULT, EPILOGUE_GELU, EPILOGUE_GELU_BIAS, EPILOGUE_RELU, EPILOGUE_RELU_BIAS,
    HipblasStatus, LAYOUT_BATCH_COUNT, LAYOUT_STRIDED_BATCH_OFFSET, OP_N, OP_T,
    PREF_MAX_WORKSPACE_BYTES, R_32F, R_32I, attribute, create, destroy, guarded, matrix_type,
};
use hip_sim::{MatrixType, SimulatedActivation};
use std::ffi::{c_int, c_void};

/// An operation: compute type, transpositions, scales and epilogue.
#[derive(Debug, Default)]
pub(crate) struct MatmulOperation {
    pub(crate) xf32: bool,
    /// Whether alpha, beta and the sums are whole numbers.
    pub(crate) whole: bool,
    pub(crate) transposed: [bool; 2],
    /// The addresses of the scales of A and of B, or 0.
    pub(crate) scales: [usize; 2],
    /// The address of the bias, or 0.
    pub(crate) bias: usize,
    /// The type of the bias; that of D if it is not set.
    pub(crate) bias_type: Option<MatrixType>,
    pub(crate) has_bias: bool,
    pub(crate) activation: SimulatedActivation,
}

/// The place of a matrix's elements.
#[derive(Debug)]
pub(crate) struct MatrixLayout {
    pub(crate) number: MatrixType,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) leading: usize,
    pub(crate) batch: i32,
    pub(crate) stride: i64,
}

/// A preference: the bytes of workspace that an algorithm may use.
#[derive(Debug)]
pub(crate) struct MatmulPreference {
    workspace: u64,
}

/// `hipblasLtMatmulDescCreate`. Alpha and beta are f32.
///
/// # Safety
///
/// `operation` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulDescCreate(
    operation: *mut *mut c_void,
    compute: c_int,
    scale: c_int,
) -> c_int {
    guarded(|| {
        let [xf32, whole] = match (compute, scale) {
            (COMPUTE_32F, R_32F) => [false, false],
            (COMPUTE_32F_FAST_TF32, R_32F) => [true, false],
            (COMPUTE_32I, R_32I) => [false, true],
            _ => return Err(HipblasStatus::NotSupported),
        };
        // SAFETY: as the caller promises.
        unsafe {
            create(
                operation,
                MatmulOperation {
                    xf32,
                    whole,
                    ..MatmulOperation::default()
                },
            )
        }
    })
}

/// `hipblasLtMatmulDescDestroy`.
///
/// # Safety
///
/// `operation` came from [`hipblasLtMatmulDescCreate`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulDescDestroy(operation: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<MatmulOperation>(operation) })
}

/// `hipblasLtMatmulDescSetAttribute`, for the transpositions, the scales and the epilogue.
///
/// # Safety
///
/// `operation` came from [`hipblasLtMatmulDescCreate`]; `buffer` can be read for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulDescSetAttribute(
    operation: *mut c_void,
    name: c_int,
    buffer: *const c_void,
    size: usize,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let operation = unsafe { operation.cast::<MatmulOperation>().as_mut() }
            .ok_or(HipblasStatus::InvalidValue)?;
        // SAFETY: as the caller promises.
        let number = || unsafe { attribute::<c_int>(buffer, size) };
        // SAFETY: as the caller promises.
        let address = || unsafe { attribute::<usize>(buffer, size) };
        match name {
            DESC_TRANSA => operation.transposed[0] = is_transposed(number()?)?,
            DESC_TRANSB => operation.transposed[1] = is_transposed(number()?)?,
            DESC_A_SCALE_POINTER => operation.scales[0] = address()?,
            DESC_B_SCALE_POINTER => operation.scales[1] = address()?,
            DESC_BIAS_POINTER => operation.bias = address()?,
            DESC_BIAS_DATA_TYPE => operation.bias_type = Some(matrix_type(number()?)?),
            DESC_EPILOGUE => {
                (operation.has_bias, operation.activation) = epilogue(number()?.cast_unsigned())?;
            }
            _ => return Err(HipblasStatus::InvalidValue),
        }
        Ok(())
    })
}

fn is_transposed(operation: c_int) -> Result<bool, HipblasStatus> {
    match operation {
        OP_N => Ok(false),
        OP_T => Ok(true),
        _ => Err(HipblasStatus::InvalidValue),
    }
}

/// Whether a bias is added, and the activation.
fn epilogue(number: u32) -> Result<(bool, SimulatedActivation), HipblasStatus> {
    use SimulatedActivation::{Gelu, Identity, Relu};
    match number {
        EPILOGUE_DEFAULT => Ok((false, Identity)),
        EPILOGUE_RELU => Ok((false, Relu)),
        EPILOGUE_GELU => Ok((false, Gelu)),
        EPILOGUE_BIAS => Ok((true, Identity)),
        EPILOGUE_RELU_BIAS => Ok((true, Relu)),
        EPILOGUE_GELU_BIAS => Ok((true, Gelu)),
        _ => Err(HipblasStatus::NotSupported),
    }
}

/// `hipblasLtMatrixLayoutCreate`.
///
/// # Safety
///
/// `layout` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatrixLayoutCreate(
    layout: *mut *mut c_void,
    number: c_int,
    rows: u64,
    columns: u64,
    leading: i64,
) -> c_int {
    guarded(|| {
        let [Ok(rows), Ok(columns)] = [rows, columns].map(usize::try_from) else {
            return Err(HipblasStatus::InvalidValue);
        };
        let leading = usize::try_from(leading)
            .ok()
            .filter(|leading| *leading >= rows)
            .ok_or(HipblasStatus::InvalidValue)?;
        let created = MatrixLayout {
            number: matrix_type(number)?,
            rows,
            columns,
            leading,
            batch: 1,
            stride: 0,
        };
        // SAFETY: as the caller promises.
        unsafe { create(layout, created) }
    })
}

/// `hipblasLtMatrixLayoutDestroy`.
///
/// # Safety
///
/// `layout` came from [`hipblasLtMatrixLayoutCreate`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatrixLayoutDestroy(layout: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<MatrixLayout>(layout) })
}

/// `hipblasLtMatrixLayoutSetAttribute`, for batches.
///
/// # Safety
///
/// `layout` came from [`hipblasLtMatrixLayoutCreate`]; `buffer` can be read for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatrixLayoutSetAttribute(
    layout: *mut c_void,
    name: c_int,
    buffer: *const c_void,
    size: usize,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let layout =
            unsafe { layout.cast::<MatrixLayout>().as_mut() }.ok_or(HipblasStatus::InvalidValue)?;
        match name {
            // SAFETY: as the caller promises.
            LAYOUT_BATCH_COUNT => layout.batch = unsafe { attribute(buffer, size)? },
            // SAFETY: as the caller promises.
            LAYOUT_STRIDED_BATCH_OFFSET => layout.stride = unsafe { attribute(buffer, size)? },
            _ => return Err(HipblasStatus::InvalidValue),
        }
        Ok(())
    })
}

/// `hipblasLtMatmulPreferenceCreate`.
///
/// # Safety
///
/// `preference` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulPreferenceCreate(preference: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(preference, MatmulPreference { workspace: 0 }) })
}

/// `hipblasLtMatmulPreferenceDestroy`.
///
/// # Safety
///
/// `preference` came from [`hipblasLtMatmulPreferenceCreate`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulPreferenceDestroy(preference: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<MatmulPreference>(preference) })
}

/// `hipblasLtMatmulPreferenceSetAttribute`, for the workspace.
///
/// # Safety
///
/// `preference` came from [`hipblasLtMatmulPreferenceCreate`]; `buffer` can be read for `size`
/// bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulPreferenceSetAttribute(
    preference: *mut c_void,
    name: c_int,
    buffer: *const c_void,
    size: usize,
) -> c_int {
    guarded(|| {
        // SAFETY: as the caller promises.
        let preference = unsafe { preference.cast::<MatmulPreference>().as_mut() }
            .ok_or(HipblasStatus::InvalidValue)?;
        if name != PREF_MAX_WORKSPACE_BYTES {
            return Err(HipblasStatus::InvalidValue);
        }
        // SAFETY: as the caller promises.
        preference.workspace = unsafe { attribute(buffer, size)? };
        Ok(())
    })
}

impl MatmulPreference {
    /// Whether an algorithm with `bytes` of workspace may be offered.
    pub(crate) fn allows(&self, bytes: u64) -> bool {
        bytes <= self.workspace
    }
}
