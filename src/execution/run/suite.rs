//! A built suite.

use std::path::PathBuf;

/// A built suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltSuite {
    /// Its test binary.
    pub binary: PathBuf,
    /// The directory of its Cargo.toml, in which its tests run.
    pub directory: PathBuf,
}
