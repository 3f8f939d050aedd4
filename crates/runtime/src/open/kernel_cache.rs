//! The folder of compiled kernels.
//!
//! By default, cubecl does not cache kernels. Its keys contain neither the architecture nor the
//! compiler's version (cubecl-cuda and cubecl-hip 0.10 `compute/context.rs`). So both are part of
//! the folder, which is set before the first GPU is opened:
//!
//! ```text
//! $TESTGEN_CACHE, else $XDG_CACHE_HOME/testgen, else $HOME/.cache/testgen
//!     kernels/<architecture>-<runtime version>/<program>/
//! ```
//!
//! `<program>` changes with every dependency and with the kernels of `testgen-gpu`, because a
//! kernel's key does not change with its source. A `cubecl.toml` or `burn.toml` in the working
//! directory or above takes precedence: then nothing is set here.

mod locks;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod plan;

pub(crate) use locks::remove_abandoned;

/// Sets cubecl's configuration, once per process. On failure cubecl's own defaults apply.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(super) fn configure(label: &str) {
    use crate::log::log_verbose;
    use std::sync::Once;

    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| match plan::apply(&crate::machine::machine().devices) {
        // A failure is not an error of the device: kernels are then compiled again in each process.
        Ok(summary) | Err(summary) => log_verbose(label, summary),
    });
}

/// The folder of compiled kernels, or `None` if they are not stored in one of testgen's.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(crate) fn folder() -> Option<std::path::PathBuf> {
    plan::folder(&crate::machine::machine().devices)
}

/// None: without a GPU backend no kernels are compiled.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(crate) fn folder() -> Option<std::path::PathBuf> {
    None
}

/// Does nothing: without a GPU backend there is no cubecl.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(super) fn configure(_label: &str) {}
