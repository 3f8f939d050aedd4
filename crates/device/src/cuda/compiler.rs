//! The foreign calls into NVRTC, `libnvrtc`, which compiles burn's kernels: its version and the
//! GPUs it compiles for.

use crate::library::SharedLibrary;
use std::ffi::c_int;

type NvrtcVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type NvrtcCount = unsafe extern "C" fn(*mut c_int) -> c_int;
type List = unsafe extern "C" fn(*mut c_int) -> c_int;

/// NVRTC's version, (13, 0).
pub(super) fn version(library: &SharedLibrary) -> Option<(i32, i32)> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the type is the C signature of `nvrtc.h`; both numbers are writable for the whole
    // call.
    let status =
        unsafe { library.function::<NvrtcVersion>("nvrtcVersion")?(&mut major, &mut minor) };
    (status == 0 && major > 0).then_some((major, minor))
}

/// The compute capabilities it compiles for, 90 for sm_90.
pub(super) fn architectures(library: &SharedLibrary) -> Option<Vec<i32>> {
    let mut count = 0;
    // CUDA before 11.2 has no such query.
    // SAFETY: the type is the C signature of `nvrtc.h`; `count` is writable for the whole call.
    let status =
        unsafe { library.function::<NvrtcCount>("nvrtcGetNumSupportedArchs")?(&mut count) };
    let mut architectures = vec![
        0;
        usize::try_from(count)
            .ok()
            // A larger number comes from a broken library, and would be allocated.
            .filter(|count| status == 0 && *count < 4096)?
    ];
    // SAFETY: as above; the list has room for the `count` numbers that the function writes.
    let status =
        unsafe { library.function::<List>("nvrtcGetSupportedArchs")?(architectures.as_mut_ptr()) };
    (status == 0 && !architectures.is_empty()).then_some(architectures)
}
