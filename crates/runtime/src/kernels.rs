//! The kernels that checks launch on a GPU.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use testgen_operators::calls::LaunchedKernel;

/// The launches of a call that waited for the device after each of them.
#[derive(Debug, Default)]
pub(crate) struct KernelLaunches {
    /// The kernels, in the order of their first launch.
    pub(crate) kernels: Vec<LaunchedKernel>,
    /// The error of the first launch that failed.
    pub(crate) error: Option<String>,
}

/// Whether this process compiles kernels and runs none, so that nothing is computed.
static COMPILES_ONLY: AtomicBool = AtomicBool::new(false);

/// Whether [`compile_only`] was called.
pub(crate) fn compiles_only() -> bool {
    COMPILES_ONLY.load(Relaxed)
}

/// The fingerprint of the kernels that the calling thread launched since the last call; `None` if
/// it launched none.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use testgen_gpu::take_fingerprint;

/// From now on, this process compiles part `part` of `parts` of the kernels that it launches, and
/// runs none.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) fn compile_only(part: u64, parts: u64) {
    COMPILES_ONLY.store(true, Relaxed);
    testgen_gpu::compile_only(testgen_gpu::Share { part, parts });
}

/// Runs the kernels that `work` launches on this thread in any process.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use testgen_gpu::executing;

/// Runs `work`, whose launches on this thread wait for the device; `work` must read its results.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) fn blocking_launches<T>(work: impl FnOnce() -> T) -> (T, KernelLaunches) {
    let (result, testgen_gpu::BlockingLaunches { kernels, error }) =
        testgen_gpu::blocking_launches(work);
    (
        result,
        KernelLaunches {
            kernels: kernels
                .into_iter()
                .map(|testgen_gpu::Kernel { name, digest }| LaunchedKernel { name, digest })
                .collect(),
            error,
        },
    )
}

/// Without a GPU backend nothing is launched.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn blocking_launches<T>(work: impl FnOnce() -> T) -> (T, KernelLaunches) {
    (work(), KernelLaunches::default())
}

/// Without a GPU backend there are no kernels.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn take_fingerprint() -> Option<String> {
    None
}

/// Without a GPU backend there is nothing to compile.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn compile_only(_part: u64, _parts: u64) {
    COMPILES_ONLY.store(true, Relaxed);
}

/// Without a GPU backend there is one way to run.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn executing<T>(work: impl FnOnce() -> T) -> T {
    work()
}
