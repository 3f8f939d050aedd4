//! The convolution itself.

use crate::numbers::{MiopenStatus, guarded};
use crate::problem::ConvolutionDescriptors;
use crate::solutions::solution;
use hip_sim::{ConvolutionFault, Fault, faults};
use std::ffi::{c_int, c_void};

/// `miopenConvolutionForwardImmediate`, in both modes.
///
/// # Safety
///
/// The descriptors came from this library; the elements of x and of the weight can be read, those
/// of y and the workspace written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenConvolutionForwardImmediate(
    handle: *mut c_void,
    weight_layout: *mut c_void,
    weight: *const c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    windows: *mut c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
    workspace: *mut c_void,
    workspace_bytes: usize,
    id: u64,
) -> c_int {
    let descriptors = ConvolutionDescriptors {
        weight: weight_layout,
        x: x_layout,
        windows,
        y: y_layout,
    };
    guarded(|| {
        if handle.is_null() || weight.is_null() || x.is_null() || y.is_null() {
            return Err(MiopenStatus::BadParm);
        }
        let (order, needed) = solution(id)?;
        if needed > workspace_bytes || needed > 0 && workspace.is_null() {
            return Err(MiopenStatus::BadParm);
        }
        let data = [x.cast_mut(), weight.cast_mut(), y];
        // SAFETY: as the caller promises.
        let convolution = unsafe { descriptors.convolution(data, order)? };
        // SAFETY: as the caller promises.
        unsafe { fill(workspace, needed) };
        // SAFETY: as the caller promises.
        unsafe { convolution.compute(faults()) }.map_err(|_| MiopenStatus::InternalError)
    })
}

/// Writes every byte of a workspace, and with the fault `convolution=workspace` the one after it.
///
/// # Safety
///
/// The workspace has `bytes` bytes that can be written, with the fault one more.
unsafe fn fill(workspace: *mut c_void, bytes: usize) {
    let is_beyond = faults().any(|fault| *fault == Fault::Convolution(ConvolutionFault::Workspace));
    let extra = usize::from(is_beyond && bytes > 0);
    if bytes > 0 {
        // SAFETY: as the caller promises.
        unsafe { workspace.cast::<u8>().write_bytes(0x5a, bytes + extra) };
    }
}
