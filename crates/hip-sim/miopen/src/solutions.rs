//! The solutions that are offered for a convolution.

use crate::numbers::{
    ALGORITHM_DIRECT, ALGORITHM_GEMM, ALGORITHM_WINOGRAD, ConvolutionSolution, MiopenStatus,
    guarded,
};
use crate::problem::ConvolutionDescriptors;
use hip_sim::SumOrder;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// The solutions: one for each order of sums, with its algorithm and the bytes of workspace that it
/// needs.
// The first one is named as a Winograd transform, which callers compare with a wider bound.
pub(crate) const SOLUTIONS: [(u64, c_int, usize); 3] = [
    (53, ALGORITHM_WINOGRAD, 0),
    (11, ALGORITHM_DIRECT, 0),
    (91, ALGORITHM_GEMM, 4096),
];

/// The order of sums of a solution, and the bytes of workspace that it needs.
pub(crate) fn solution(id: u64) -> Result<(SumOrder, usize), MiopenStatus> {
    SOLUTIONS
        .iter()
        .zip(SumOrder::ALL)
        .find(|((own, ..), _)| *own == id)
        .map(|((_, _, workspace), order)| (order, *workspace))
        .ok_or(MiopenStatus::BadParm)
}

/// `miopenConvolutionForwardGetSolutionCount`.
///
/// # Safety
///
/// The descriptors came from this library; `count` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenConvolutionForwardGetSolutionCount(
    handle: *mut c_void,
    weight: *mut c_void,
    x: *mut c_void,
    windows: *mut c_void,
    y: *mut c_void,
    count: *mut usize,
) -> c_int {
    let descriptors = ConvolutionDescriptors {
        weight,
        x,
        windows,
        y,
    };
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { validate(handle, descriptors)? };
        if count.is_null() {
            return Err(MiopenStatus::BadParm);
        }
        // SAFETY: as the caller promises.
        unsafe { count.write(SOLUTIONS.len()) };
        Ok(())
    })
}

/// `miopenConvolutionForwardGetSolution`.
///
/// # Safety
///
/// The descriptors came from this library; `solutions` has room for `most` of them, and `count` can
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenConvolutionForwardGetSolution(
    handle: *mut c_void,
    weight: *mut c_void,
    x: *mut c_void,
    windows: *mut c_void,
    y: *mut c_void,
    most: usize,
    count: *mut usize,
    solutions: *mut ConvolutionSolution,
) -> c_int {
    let descriptors = ConvolutionDescriptors {
        weight,
        x,
        windows,
        y,
    };
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { validate(handle, descriptors)? };
        if count.is_null() || solutions.is_null() {
            return Err(MiopenStatus::BadParm);
        }
        let offered = SOLUTIONS.iter().take(most).enumerate();
        for (index, (solution_id, algorithm, workspace_size)) in offered {
            let solution = ConvolutionSolution {
                time: 1.0,
                workspace_size: *workspace_size,
                solution_id: *solution_id,
                algorithm: *algorithm,
            };
            // SAFETY: as the caller promises; `index` is below `most`.
            unsafe { solutions.add(index).write(solution) };
        }
        // SAFETY: as the caller promises.
        unsafe { count.write(SOLUTIONS.len().min(most)) };
        Ok(())
    })
}

/// `miopenConvolutionForwardCompileSolution`, which has nothing to compile.
///
/// # Safety
///
/// The descriptors came from this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn miopenConvolutionForwardCompileSolution(
    handle: *mut c_void,
    weight: *mut c_void,
    x: *mut c_void,
    windows: *mut c_void,
    y: *mut c_void,
    id: u64,
) -> c_int {
    let descriptors = ConvolutionDescriptors {
        weight,
        x,
        windows,
        y,
    };
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe { validate(handle, descriptors)? };
        solution(id).map(|_| ())
    })
}

/// Compares the lengths of the tensors.
///
/// # Safety
///
/// The descriptors came from this library.
unsafe fn validate(
    handle: *mut c_void,
    descriptors: ConvolutionDescriptors,
) -> Result<(), MiopenStatus> {
    if handle.is_null() {
        return Err(MiopenStatus::BadParm);
    }
    // SAFETY: as the caller promises; the tensors are not read.
    unsafe { descriptors.convolution([null_mut(); 3], SumOrder::Forward)? };
    Ok(())
}
