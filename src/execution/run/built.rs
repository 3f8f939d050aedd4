//! Finds the test binary of a suite that was built before; builds nothing.

use super::{build_directory, suite::BuiltSuite};
use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};
use testgen_types::bounded_file::{limit, read_text};

/// The newest test binary that was built from the suite of `manifest`, or `None` without one.
///
/// Binaries of several suites may be in one directory. The file of dependencies that rustc writes
/// beside each of them names the directory of its suite, because the source of the test reads
/// `CARGO_MANIFEST_DIR`.
pub fn find_built(manifest: &Path) -> Option<BuiltSuite> {
    let directory = fs::canonicalize(manifest.parent()?).ok()?;
    let profiles = build_directory::candidates(manifest)
        .into_iter()
        .flat_map(|target| ["debug", "release"].map(|profile| target.join(profile).join("deps")));
    let binaries = profiles
        .flat_map(|deps| binaries_in(&deps))
        .filter(|binary| is_of(binary, &directory));
    // Cargo leaves the binaries of earlier builds beside the last one.
    let newest = binaries
        .filter_map(|binary| Some((modified(&binary)?, binary)))
        .max()?;
    Some(BuiltSuite {
        binary: newest.1,
        directory,
    })
}

/// `conformance-<hash>`, which has no extension on Unix.
fn binaries_in(deps: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(deps) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| is_binary(path)).collect()
}

fn is_binary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("conformance-") && path.extension().is_none_or(|extension| extension == "exe")
}

fn is_of(binary: &Path, directory: &Path) -> bool {
    let Ok(text) = read_text(&binary.with_extension("d"), limit::SOURCE) else {
        return false;
    };
    // By the directory and not by the name, because suites of one name share a target directory.
    let mut named = text
        .lines()
        .filter_map(|line| line.strip_prefix("# env-dep:CARGO_MANIFEST_DIR="));
    named.any(|named| fs::canonicalize(named).is_ok_and(|named| named == directory))
}

/// When a file was written.
pub(super) fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
}
