//! Where cubecl keeps compiled kernels and what its autotuner chose.
//!
//! Its own default is the `target` of the nearest manifest, and no cache of kernels; its keys hold neither the
//! architecture nor the version of what compiled them (cubecl-runtime 0.10 `config/cache.rs`, cubecl-cuda and cubecl-hip
//! `compute/context.rs`). So a folder is chosen by those, before the first GPU is opened:
//!
//! ```text
//! $TESTGEN_CACHE, else $XDG_CACHE_HOME/testgen, else $HOME/.cache/testgen
//!     kernels/<architecture>-<runtime version>/<program>/    compiled kernels
//!     autotune/<architecture>-<runtime version>/             choices, which cubecl checks against its candidates
//!     autotune/<architecture>-<runtime version>-<choices>/   the same, begun with the choices that TESTGEN_AUTOTUNE names
//! ```
//!
//! `<program>` changes with every dependency, because a kernel's key does not change with its source. A `cubecl.toml` or
//! `burn.toml` above the working directory takes over: then nothing is set here.

#[cfg(any(feature = "cuda", feature = "rocm"))]
mod choices;
#[cfg(any(feature = "cuda", feature = "rocm"))]
mod plan;

/// Sets cubecl's configuration, once per process. On failure cubecl's own defaults hold.
#[cfg(any(feature = "cuda", feature = "rocm"))]
pub(super) fn configure(label: &str) {
    use crate::narration::narrate;
    use std::sync::Once;

    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| match plan::apply(&crate::detect::machine().devices) {
        Ok(told) | Err(told) => narrate(label, told),
    });
}

/// There is no cubecl without a GPU backend.
#[cfg(not(any(feature = "cuda", feature = "rocm")))]
pub(super) fn configure(_label: &str) {}
