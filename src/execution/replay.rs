//! Computes a failed call again in a process of the suite, and shows how its result compares with
//! the recorded one.
//!
//! Owns: the request to the suite's test binary, the file of the smaller call, the table and its
//! JSON form. Does not own: the files (`testgen-operators`) and what the binary computes
//! (`crates/runtime`).

mod error;
mod process;
mod structured;
mod table;

pub use error::ReplayError;
pub use process::{ReplayOptions, compute};
pub use structured::render_json;
pub use table::render_human;

use std::path::{Path, PathBuf};
use testgen_base::atomic_file;
use testgen_operators::calls::{FailedCall, Replayed};

/// A replay with its file.
#[derive(Debug)]
pub struct Replay {
    /// The failed call as it was recorded.
    pub failed: FailedCall,
    /// The result of computing it again.
    pub replayed: Replayed,
    /// The file of the smaller call, or `None` if it was not searched for, or nothing fails.
    pub reduced: Option<PathBuf>,
}

impl Replay {
    /// Writes the file of the smaller call beside `file`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn new(file: &Path, failed: FailedCall, replayed: Replayed) -> Result<Self, ReplayError> {
        let reduced = replayed.reduced.as_ref().map(|reduced| {
            let path = reduced_path(file);
            // Replaced as a whole, because an earlier replay may have left a file of that name.
            let written = atomic_file::replace(&path, reduced.failed.to_json().as_bytes());
            written
                .map(|()| path.clone())
                .map_err(|source| ReplayError::Write { path, source })
        });
        Ok(Self {
            failed,
            replayed,
            reduced: reduced.transpose()?,
        })
    }

    /// Whether the result is correct now.
    pub fn is_correct(&self) -> bool {
        self.replayed.failure.is_none()
    }
}

/// `x.reduced.json` for `x.json`, and for itself.
fn reduced_path(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    // A reduced call is reduced in place, so that its name does not grow with every run.
    let stem = stem.strip_suffix(".reduced").unwrap_or(&stem);
    file.with_file_name(format!("{stem}.reduced.json"))
}

#[cfg(test)]
#[path = "replay/tests.rs"]
mod tests;
