//! The directories of kept inputs.

use std::path::PathBuf;

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs of a target that are kept in the repository.
pub(crate) fn corpus(target: &str) -> PathBuf {
    repository().join("tests/fuzz").join(target)
}

/// The directory of the files that a run writes.
pub(crate) fn results(target: &str) -> PathBuf {
    repository().join("target/fuzz").join(target)
}
