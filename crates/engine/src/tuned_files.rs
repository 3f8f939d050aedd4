//! A digest of the files that tune a library.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use testgen_types::{bounded_file::read_bytes, stable_digest};

/// The bytes that are read of all files together: of later ones the names and sizes count.
// The kernels of a library, which a variable can name, have gigabytes.
const MOST_BYTES: u64 = 64 << 20;

/// Directories within a directory.
// A library has one for each architecture.
const DEPTH: usize = 1;

/// The files of MIOpen's cache of compiled kernels, which users keep beside its databases.
const COMPILED: &str = "ukdb";

/// A digest of the content of a file, or of the names and the contents of a directory's files.
/// `None` without a file.
pub(crate) fn content_digest(path: &Path) -> Option<String> {
    let files = if path.is_dir() {
        files_below(path, DEPTH)
    } else {
        file_or_numbered(path)
    };
    let (mut lines, mut left) = (String::new(), MOST_BYTES);
    // Sizes always, so that a file beyond the limit still changes the digest when it grows.
    for file in &files {
        let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
        let bytes = read_bytes(file, left).unwrap_or_default();
        // Never below 0: `read_bytes` refuses a file with more than `left` bytes.
        left -= bytes.len() as u64;
        // The name of a file that a variable names has no meaning.
        let name = file.strip_prefix(path).unwrap_or(Path::new(""));
        let digest = stable_digest(&bytes);
        let _ = writeln!(lines, "{} {size} {digest}", name.display());
    }
    (!files.is_empty()).then(|| stable_digest(&lines))
}

/// The files of a directory and of the directories within it, sorted.
fn files_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            if depth > 0 {
                files.extend(files_below(&path, depth - 1));
            }
        } else if path.is_file() && path.extension().is_none_or(|end| end != COMPILED) {
            files.push(path);
        }
    }
    // The order of a directory is arbitrary.
    files.sort();
    files
}

/// The file, or the files with a number after its name: TunableOp adds the number of the device,
/// `results0.csv`, or writes it in the place of `%d`.
fn file_or_numbered(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy().into_owned();
    let (before, after) = name
        .split_once("%d")
        .or_else(|| name.rfind('.').map(|dot| name.split_at(dot)))
        .unwrap_or((name.as_str(), ""));
    let is_numbered = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(before)?.strip_suffix(after));
        number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut files: Vec<PathBuf> = entries(folder).filter(is_numbered).collect();
    files.sort();
    files
}

/// The paths in a directory; none if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}
