//! The softmax.

use crate::numbers::{MiopenStatus, SOFTMAX_ALGORITHMS, SOFTMAX_MODES, guarded};
use crate::primitive::OperatorTensors;
use hip_sim::SimulatedKind;
use std::ffi::{c_int, c_void};

/// `miopenSoftmaxForward_V2`.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32; the elements of x can be read,
/// the elements of y written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenSoftmaxForward_V2(
    handle: *mut c_void,
    alpha: *const c_void,
    x_layout: *mut c_void,
    x: *const c_void,
    beta: *const c_void,
    y_layout: *mut c_void,
    y: *mut c_void,
    algorithm: c_int,
    mode: c_int,
) -> c_int {
    let tensors = OperatorTensors {
        handle,
        alpha,
        x: [x_layout, x.cast_mut()],
        beta,
        y: [y_layout, y],
    };
    guarded(|| {
        if !SOFTMAX_ALGORITHMS.contains(&algorithm) || !SOFTMAX_MODES.contains(&mode) {
            return Err(MiopenStatus::BadParm);
        }
        let kind = SimulatedKind::Softmax {
            shifted: algorithm != SOFTMAX_ALGORITHMS[0],
            logarithm: algorithm == SOFTMAX_ALGORITHMS[2],
            instance: mode == SOFTMAX_MODES[0],
        };
        // SAFETY: as the caller promises.
        unsafe { tensors.compute_elements(kind) }
    })
}
