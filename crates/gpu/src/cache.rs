//! Where cubecl stores compiled kernels.

use cubecl::config::cache::CacheConfig;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig as _};
use std::panic::catch_unwind;
use std::path::PathBuf;

/// Stores compiled kernels in `folder`, or nowhere.
///
/// To be called before the first device is opened, because cubecl reads its configuration once:
/// `false` if it is too late.
pub fn store_kernels_in(folder: Option<PathBuf>) -> bool {
    // `set` replaces the configuration that cubecl would read itself, and with it its own variables
    // (`CUBECL_DEBUG_LOG`, ...).
    let mut config = CubeClRuntimeConfig::default().override_from_env();
    config.compilation.cache = folder.map(CacheConfig::File);
    // `set` panics when cubecl has read its configuration before.
    catch_unwind(|| CubeClRuntimeConfig::set(config)).is_ok()
}
