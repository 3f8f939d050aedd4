//! A directory for the files that a target writes at every execution.

use std::path::Path;
use tempfile::TempDir;

/// A directory in memory if the system has one: a disk takes milliseconds to replace a file.
///
/// # Panics
///
/// When no temporary directory can be written.
pub fn scratch_directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let in_memory = if memory.is_dir() {
        tempfile::tempdir_in(memory).ok()
    } else {
        None
    };
    in_memory
        .unwrap_or_else(|| tempfile::tempdir().expect("the temporary directory can be written"))
}
