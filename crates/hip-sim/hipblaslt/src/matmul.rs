//! The product itself.

use crate::descriptor::MatmulOperation;
use crate::numbers::{HipblasStatus, MatmulAlgorithm, guarded};
use crate::problem::{SOLUTIONS, order, product};
use hip_sim::{SumOrder, faults};
use std::ffi::{c_int, c_void};

/// `hipblasLtMatmul`. Without an algorithm, the first one of the heuristic computes the product.
///
/// # Safety
///
/// The descriptors came from this library; alpha and beta are f32, or whole numbers of 32 bits, and can
/// be read, the elements of A, B, C and the bias and the scales can be read and the elements of D written; `algorithm` is null or came from the
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
        unsafe {
            (product.alpha, product.beta) = scalars(operation, alpha, beta);
            product.scales = scales(operation);
        }
        // SAFETY: as the caller promises.
        unsafe { product.compute(faults()) }.map_err(|_| HipblasStatus::InternalError)
    })
}

/// Alpha and beta, which have the type of the sums.
unsafe fn scalars(
    operation: *const c_void,
    alpha: *const c_void,
    beta: *const c_void,
) -> (f32, f32) {
    // SAFETY: as the caller of `hipblasLtMatmul` promises; a null operation was refused before.
    unsafe {
        if (*operation.cast::<MatmulOperation>()).whole {
            let read = |scalar: *const c_void| scalar.cast::<i32>().read() as f32;
            (read(alpha), read(beta))
        } else {
            (alpha.cast::<f32>().read(), beta.cast::<f32>().read())
        }
    }
}

/// The scales of A and of B in the memory of the device; 1 without an address.
unsafe fn scales(operation: *const c_void) -> [f32; 2] {
    // SAFETY: as above.
    let addresses = unsafe { (*operation.cast::<MatmulOperation>()).scales };
    addresses.map(|address| match address {
        0 => 1.0,
        // SAFETY: as the caller of `hipblasLtMatmul` promises.
        address => unsafe { (address as *const f32).read() },
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
