//! The names of backends in tables and JSON.

use testgen_estimate::Backend;

/// `cpu`, or `gpu` for any.
pub(super) const fn name(backend: Backend) -> &'static str {
    match backend {
        Backend::Host => "cpu",
        Backend::Gpu => "gpu",
    }
}
