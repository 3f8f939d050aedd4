//! The crates of a suite read files through `testgen_types::bounded_file` only: with a limit, and
//! never a FIFO or a device.

use std::{
    fs,
    path::{Path, PathBuf},
};

const CRATES: [&str; 7] = [
    "device",
    "models",
    "nn",
    "processing",
    "runtime",
    "checkpoints",
    "types",
];

/// Calls that open or read a file without a limit.
const UNBOUNDED: [&str; 5] = [
    "fs::read(",
    "fs::read_to_string(",
    "File::open(",
    "OpenOptions",
    "read_to_end(",
];

/// The files that may, with the reason.
const EXCEPTIONS: [(&str, &str); 5] = [
    (
        "crates/device/src/hip/config.rs",
        "the output of a child process",
    ),
    (
        "crates/device/src/inventory/contradiction.rs",
        "opens device files to learn whether it may, and reads nothing",
    ),
    ("crates/runtime/src/report.rs", "appends to the report"),
    ("crates/types/src/bounded_file.rs", "the module itself"),
    (
        "crates/types/src/quantization/tensors.rs",
        "the header of a file of any size, at most 100 MB",
    ),
];

#[test]
fn files_are_read_with_a_limit() {
    let sources: Vec<PathBuf> = CRATES
        .iter()
        .flat_map(|name| sources(&repository().join("crates").join(name).join("src")))
        .collect();
    assert!(sources.len() > 300, "only {} files", sources.len());
    let found: Vec<String> = sources
        .iter()
        .filter(|path| !is_exception(path))
        .flat_map(|path| unbounded(path))
        .collect();
    assert!(
        found.is_empty(),
        "use `testgen_types::bounded_file` instead of:\n{}",
        found.join("\n")
    );
}

#[test]
fn every_exception_is_needed() {
    for (path, reason) in EXCEPTIONS {
        assert!(
            !unbounded(&repository().join(path)).is_empty(),
            "{path}: {reason}"
        );
    }
}

fn is_exception(path: &Path) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(exception, _)| path.ends_with(exception))
}

/// The lines outside tests that read without a limit.
fn unbounded(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a source file");
    let code = text
        .split("\nmod tests {")
        .next()
        .unwrap_or_default()
        .lines()
        .enumerate();
    let found = code.filter(|(_, line)| {
        !line.trim_start().starts_with("//") && UNBOUNDED.iter().any(|name| line.contains(name))
    });
    found
        .map(|(index, line)| format!("{}:{}: {}", path.display(), index + 1, line.trim()))
        .collect()
}

/// Every source file below `directory` that is not a test.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .expect("a source directory")
        .map(|entry| entry.expect("readable").path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let named_tests = |path: &PathBuf| path.file_stem().is_some_and(|name| name == "tests");
    let nested = folders
        .iter()
        .filter(|path| !named_tests(path))
        .flat_map(|path| sources(path));
    files
        .iter()
        .filter(|path| !named_tests(path))
        .cloned()
        .chain(nested)
        .collect()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
