//! The product itself.

use crate::numbers::{HipblasStatus, MatmulAlgorithm, guarded};
use crate::problem::{SOLUTIONS, order, product};
use hip_sim::{SumOrder, faults};
use std::ffi::{c_int, c_void};

/// `hipblasLtMatmul`. Without an algorithm, the first one of the heuristic computes the product.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32 and can be read, the elements of
/// A, B and C can be read and the elements of D written; `algorithm` is null or came from the
/// heuristic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmul(
    handle: *mut c_void,
    operation: *mut c_void,
    alpha: *const c_void,
    a: *const c_void,
    layout_a: *mut c_void,
    b: *const c_void,
    layout_b: *mut c_void,
    beta: *const c_void,
    c: *const c_void,
    layout_c: *mut c_void,
    d: *mut c_void,
    layout_d: *mut c_void,
    algorithm: *const MatmulAlgorithm,
    workspace: *mut c_void,
    workspace_bytes: usize,
    _stream: *mut c_void,
) -> c_int {
    guarded(|| {
        if handle.is_null() {
            return Err(HipblasStatus::NotInitialized);
        }
        if [alpha, a, b, beta, c, d.cast_const()]
            .iter()
            .any(|pointer| pointer.is_null())
        {
            return Err(HipblasStatus::InvalidValue);
        }
        // SAFETY: as the caller promises.
        let order = match unsafe { algorithm.as_ref() } {
            None => SumOrder::Forward,
            Some(algorithm) => chosen(algorithm, workspace, workspace_bytes)?,
        };
        let addresses = [a.cast_mut(), b.cast_mut(), c.cast_mut(), d];
        // SAFETY: as the caller promises.
        let mut product = unsafe {
            product(
                operation,
                [layout_a, layout_b, layout_c, layout_d],
                addresses,
                order,
            )?
        };
        // SAFETY: as the caller promises.
        (product.alpha, product.beta) =
            unsafe { (alpha.cast::<f32>().read(), beta.cast::<f32>().read()) };
        // SAFETY: as the caller promises.
        unsafe { product.compute(faults()) }.map_err(|_| HipblasStatus::InternalError)
    })
}

/// The order of sums of an algorithm; an error when it needs more workspace than it has.
fn chosen(
    algorithm: &MatmulAlgorithm,
    workspace: *mut c_void,
    bytes: usize,
) -> Result<SumOrder, HipblasStatus> {
    let [a, b, c, d, ..] = algorithm.data;
    let solution = i32::from_ne_bytes([a, b, c, d]);
    let needed = SOLUTIONS
        .iter()
        .find(|(index, _)| *index == solution)
        .map_or(0, |(_, bytes)| *bytes as usize);
    if needed > bytes || needed > 0 && workspace.is_null() {
        return Err(HipblasStatus::InvalidValue);
    }
    order(solution)
}
