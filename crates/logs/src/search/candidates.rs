//! The files of a directory that can be logs or tables, and the order in which they are tried.

use super::rank_of_path::rank_of_path;
use crate::error::LogError;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The depth that is searched: `RUN/attempt_0/RANK/stdout.log` of torchrun, and two directories
/// above.
const DEPTH: usize = 6;
/// The files that are considered.
const FILES: usize = 10_000;
/// The ends of names of logs.
// torchrun and the launchers of clusters write the last ones.
const LOGS: [&str; 6] = ["log", "txt", "out", "err", "stdout", "stderr"];
/// Directories that contain code and no logs, some of them with many thousands of files.
const SKIPPED: [&str; 4] = ["__pycache__", "node_modules", "site-packages", "target"];

/// The files with names of logs and tables: rank 0 first, then files without a rank, then the other
/// ranks; alike ones by path.
pub(super) fn candidates(directory: &Path) -> Result<Vec<(PathBuf, Option<u32>)>, LogError> {
    let walk = WalkDir::new(directory)
        .max_depth(DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry));
    let mut found = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|error| LogError::Search {
            directory: directory.to_owned(),
            source: error.into(),
        })?;
        // Links are not followed: a log of another directory is not a log of this one.
        if entry.file_type().is_file() && is_candidate(entry.path()) {
            let path = entry.into_path();
            // Below the directory only: a rank in a name above it would be the rank of every file.
            let below = path.strip_prefix(directory).unwrap_or(&path);
            let rank = rank_of_path(below);
            found.push((path, rank));
        }
        if found.len() > FILES {
            return Err(LogError::TooManyFiles {
                directory: directory.to_owned(),
                limit: FILES,
            });
        }
    }
    found.sort_by_key(|(path, rank)| (order(*rank), path.clone()));
    Ok(found)
}

fn order(rank: Option<u32>) -> (u8, u32) {
    match rank {
        Some(0) => (0, 0),
        None => (1, 0),
        Some(rank) => (2, rank),
    }
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || entry.file_type().is_dir() && SKIPPED.contains(&name.as_ref())
}

fn is_candidate(path: &Path) -> bool {
    is_table(path) || LOGS.iter().any(|end| has_end(path, end))
}

/// Whether a file can be a table of GPUs.
pub(super) fn is_table(path: &Path) -> bool {
    has_end(path, "csv")
}

/// Whether the extension is `end`, or the whole name, as of `stdout`.
fn has_end(path: &Path, end: &str) -> bool {
    [path.extension(), path.file_name()]
        .into_iter()
        .flatten()
        .any(|text| text.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn ranks_are_ordered() {
        let mut ranks = [Some(3), None, Some(0), Some(12)];
        ranks.sort_by_key(|rank| order(*rank));
        assert_eq!(ranks, [Some(0), None, Some(3), Some(12)]);
    }
}
