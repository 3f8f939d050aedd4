//! The heuristic that offers algorithms for a product.

use crate::descriptor::MatmulPreference;
use crate::numbers::{HeuristicResult, HipblasStatus, MatmulAlgorithm, guarded};
use crate::problem::{SOLUTIONS, product};
use hip_sim::SumOrder;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// `hipblasLtMatmulAlgoGetHeuristic`.
///
/// # Safety
///
/// The descriptors came from this library; `results` has room for `requested` results, and
/// `returned` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipblasLtMatmulAlgoGetHeuristic(
    handle: *mut c_void,
    operation: *mut c_void,
    a: *mut c_void,
    b: *mut c_void,
    c: *mut c_void,
    d: *mut c_void,
    preference: *mut c_void,
    requested: c_int,
    results: *mut HeuristicResult,
    returned: *mut c_int,
) -> c_int {
    guarded(|| {
        if handle.is_null() {
            return Err(HipblasStatus::NotInitialized);
        }
        // SAFETY: as the caller promises.
        unsafe { product(operation, [a, b, c, d], [null_mut(); 4], SumOrder::Forward)? };
        // SAFETY: as the caller promises.
        let preference = unsafe { preference.cast::<MatmulPreference>().as_ref() }
            .ok_or(HipblasStatus::InvalidValue)?;
        let room = usize::try_from(requested)
            .ok()
            .filter(|room| *room > 0)
            .ok_or(HipblasStatus::InvalidValue)?;
        if results.is_null() || returned.is_null() {
            return Err(HipblasStatus::InvalidValue);
        }
        let offered = SOLUTIONS
            .iter()
            .filter(|(_, workspace)| preference.allows(*workspace))
            .take(room);
        let mut count = 0;
        for (index, (solution, workspace)) in offered.enumerate() {
            // SAFETY: as the caller promises; `index` is below `requested`.
            unsafe {
                results
                    .add(index)
                    .write(result(*solution, *workspace as usize))
            };
            count += 1;
        }
        // SAFETY: as the caller promises.
        unsafe { returned.write(count) };
        Ok(())
    })
}

fn result(solution: i32, workspace: usize) -> HeuristicResult {
    let mut data = [0; 16];
    data[..4].copy_from_slice(&solution.to_ne_bytes());
    let algorithm = MatmulAlgorithm {
        data,
        max_workspace_bytes: workspace,
    };
    HeuristicResult {
        algorithm,
        workspace,
        state: 0,
        waves: 1.0,
        reserved: [0; 4],
    }
}
