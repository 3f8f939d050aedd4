//! The kernels that checks launch on a GPU.

/// The fingerprint of the kernels that the calling thread launched since the last call; `None` if it launched none.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use testgen_gpu::take_fingerprint;

/// From now on, this process compiles part `part` of `parts` of the kernels that it launches, and runs none.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) fn compile_only(part: u64, parts: u64) {
    testgen_gpu::compile_only(testgen_gpu::Share { part, parts });
}

/// Runs the kernels that `work` launches on this thread in any process.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use testgen_gpu::executing;

/// Without a GPU backend there are no kernels.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn take_fingerprint() -> Option<String> {
    None
}

/// Without a GPU backend there is nothing to compile.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn compile_only(_part: u64, _parts: u64) {}

/// Without a GPU backend there is one way to run.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn executing<T>(work: impl FnOnce() -> T) -> T {
    work()
}
