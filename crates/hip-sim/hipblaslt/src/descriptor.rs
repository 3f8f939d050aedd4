//! Descriptors of operations, of matrices and of preferences.

use crate::numbers::{
    COMPUTE_32F, COMPUTE_32F_FAST_TF32, DESC_TRANSA, DESC_TRANSB, HipblasStatus,
    LAYOUT_BATCH_COUNT, LAYOUT_STRIDED_BATCH_OFFSET, OP_N, OP_T, PREF_MAX_WORKSPACE_BYTES, R_32F,
    attribute, create, destroy, guarded, matrix_type,
};
use hip_sim::MatrixType;
use std::ffi::{c_int, c_void};

/// An operation: compute type and transpositions.
#[derive(Debug)]
pub(crate) struct MatmulOperation {
    pub(crate) xf32: bool,
    pub(crate) transposed: [bool; 2],
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
        let xf32 = match (compute, scale) {
            (COMPUTE_32F, R_32F) => false,
            (COMPUTE_32F_FAST_TF32, R_32F) => true,
            _ => return Err(HipblasStatus::NotSupported),
        };
        // SAFETY: as the caller promises.
        unsafe {
            create(
                operation,
                MatmulOperation {
                    xf32,
                    transposed: [false; 2],
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

/// `hipblasLtMatmulDescSetAttribute`, for the transpositions.
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
        let index = match name {
            DESC_TRANSA => 0,
            DESC_TRANSB => 1,
            _ => return Err(HipblasStatus::InvalidValue),
        };
        // SAFETY: as the caller promises.
        operation.transposed[index] = match unsafe { attribute::<c_int>(buffer, size)? } {
            OP_N => false,
            OP_T => true,
            _ => return Err(HipblasStatus::InvalidValue),
        };
        Ok(())
    })
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
