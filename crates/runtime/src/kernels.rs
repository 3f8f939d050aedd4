//! The fingerprint of the kernels that a check launched on a GPU.

/// Of the calling thread since the last call; `None` if it launched none.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) use testgen_gpu::take_fingerprint;

/// Without a GPU backend there are no kernels.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn take_fingerprint() -> Option<String> {
    None
}
