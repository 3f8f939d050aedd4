//! The runtime that a suite depends on when the settings name none.

use super::{GenerateError, location::absolute};
use crate::settings::Runtime;
use std::path::{Path, PathBuf};
use testgen_types::bounded_file::{limit, read_text};

/// The given runtime, else the runtime of the source tree that contains the suite, else of the
/// source tree that this binary was built from.
pub(super) fn find(given: Option<&Runtime>, out: &Path) -> Result<Runtime, GenerateError> {
    let path = match given {
        Some(Runtime::Version(version)) => return Ok(Runtime::Version(version.clone())),
        Some(Runtime::Path(path)) => path.clone(),
        None => {
            // The tree around the suite is first: a checkout tests its own runtime, whatever binary
            // runs.
            let beside = out
                .ancestors()
                .skip(1)
                .map(|directory| directory.join("crates/runtime"));
            let of_this_binary = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/runtime");
            beside
                .into_iter()
                .find(|path| is_runtime(path))
                .unwrap_or(of_this_binary)
        }
    };
    // Also a path that was found is examined: the sources of this binary may have been deleted.
    let path: PathBuf = absolute(&path)?;
    if is_runtime(&path) {
        Ok(Runtime::Path(path))
    } else {
        Err(GenerateError::NoRuntime { path })
    }
}

fn is_runtime(directory: &Path) -> bool {
    let manifest = read_text(&directory.join("Cargo.toml"), limit::SOURCE).unwrap_or_default();
    manifest
        .lines()
        .any(|line| line.replace(' ', "") == "name=\"testgen-runtime\"")
}
