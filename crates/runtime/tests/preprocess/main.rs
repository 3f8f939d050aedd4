//! Input processing compared with recorded references: fixtures' goldens, and `vectors.safetensors`
//! and `texts.json` of `record.py`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod graph;
mod image;
mod problems;
mod tensors;
mod tokenizer;

use std::path::PathBuf;

/// A directory below `fixtures/`.
fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// A file beside these tests.
fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/preprocess")
        .join(name)
}

/// A throw-away directory with these files.
fn directory_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}
