//! Reductions and their descriptors.

use crate::numbers::{FLOAT, MiopenStatus, PROPAGATE_NAN, REDUCTIONS, create, destroy, guarded};
use crate::primitive::{OperatorTensors, compute};
use hip_sim::{SimulatedKind, SimulatedReduction};
use std::ffi::{c_int, c_void};

/// The workspace that a reduction needs.
// One that is not used, so that callers are tested with it.
const WORKSPACE: usize = 512;

/// The operation of a descriptor.
#[derive(Debug, Default)]
struct ReductionOperation(Option<SimulatedReduction>);

/// `miopenCreateReduceTensorDescriptor`.
///
/// # Safety
///
/// `reduction` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenCreateReduceTensorDescriptor(reduction: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { create(reduction, ReductionOperation::default()) })
}

/// `miopenSetReduceTensorDescriptor`. Sums in f32, with NaN and without indices, are simulated.
///
/// # Safety
///
/// `reduction` came from [`miopenCreateReduceTensorDescriptor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSetReduceTensorDescriptor(
    reduction: *mut c_void,
    operation: c_int,
    number: c_int,
    nan: c_int,
    indices: c_int,
    _index_type: c_int,
) -> c_int {
    guarded(|| {
        let mut named = REDUCTIONS.iter().zip(SimulatedReduction::ALL);
        let operation = named
            .find(|(number, _)| **number == operation)
            .map(|(_, reduction)| reduction)
            .ok_or(MiopenStatus::NotImplemented)?;
        if number != FLOAT || nan != PROPAGATE_NAN || indices != 0 {
            return Err(MiopenStatus::NotImplemented);
        }
        // SAFETY: as the caller promises.
        let descriptor = unsafe { reduction.cast::<ReductionOperation>().as_mut() };
        *descriptor.ok_or(MiopenStatus::BadParm)? = ReductionOperation(Some(operation));
        Ok(())
    })
}

/// `miopenGetReductionWorkspaceSize`.
///
/// # Safety
///
/// `bytes` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenGetReductionWorkspaceSize(
    handle: *mut c_void,
    reduction: *mut c_void,
    x_layout: *mut c_void,
    y_layout: *mut c_void,
    bytes: *mut usize,
) -> c_int {
    guarded(|| {
        if [handle, reduction, x_layout, y_layout].contains(&std::ptr::null_mut())
            || bytes.is_null()
        {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        unsafe { bytes.write(WORKSPACE) };
        Ok(())
    })
}

/// `miopenReduceTensor`, over every dimension in which y has length 1.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32; the elements of x can be read,
/// the elements of y and the workspace written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenReduceTensor(
    handle: *mut c_void,
    reduction: *mut c_void,
    _indices: *mut c_void,
    _indices_bytes: usize,
    workspace: *mut c_void,
    workspace_bytes: usize,
    alpha: *const c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    beta: *const c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
) -> c_int {
    let tensors = OperatorTensors {
        handle,
        alpha,
        x: [x_layout, x.cast_mut()],
        beta,
        y: [y_layout, y],
    };
    guarded(|| {
        if workspace.is_null() || workspace_bytes < WORKSPACE {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        let descriptor = unsafe { reduction.cast::<ReductionOperation>().as_ref() };
        let operation = descriptor.and_then(|descriptor| descriptor.0);
        let kind = SimulatedKind::Reduction(operation.ok_or(MiopenStatus::BadParm)?);
        // SAFETY: as the caller promises.
        let [x, y] = unsafe { tensors.described()? };
        let fits = |(from, to): (&usize, &usize)| *to == 1 || from == to;
        if !x.lengths.iter().zip(&y.lengths).all(fits) {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        unsafe { workspace.cast::<u8>().write_bytes(0x5a, WORKSPACE) };
        // SAFETY: as the caller promises.
        unsafe { compute(kind, [x, y]) }
    })
}

/// `miopenDestroyReduceTensorDescriptor`.
///
/// # Safety
///
/// `reduction` came from [`miopenCreateReduceTensorDescriptor`] and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenDestroyReduceTensorDescriptor(reduction: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { destroy::<ReductionOperation>(reduction) })
}
