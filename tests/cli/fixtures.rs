//! The size of the fixtures in a clone.

use std::path::Path;

/// The budget for all of them, in bytes. Recorded answers and the tokenizers that only requests use
/// take 0.4 MB of it, quantized checkpoints as much.
const BUDGET: u64 = 16_400_000;

/// The bytes of all files below `folder`.
fn size(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("fixtures can be read"));
    files
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| entry.metadata().expect("a file has a size").len())
        .sum()
}

#[test]
fn fixtures_stay_small() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = std::fs::read_dir(fixtures)
        .expect("fixtures exist")
        .map(|entry| entry.expect("an entry").path());
    let sizes: Vec<u64> = folders
        .filter(|path| path.join("golden.safetensors").exists())
        .map(|path| size(&path))
        .collect();
    let total: u64 = sizes.iter().sum();
    assert!(sizes.len() > 90, "{} fixtures were found", sizes.len());
    assert!(
        total < BUDGET,
        "{} fixtures take {total} bytes, over {BUDGET}: save the new one in 16 bits",
        sizes.len()
    );
}

/// Those of types without a native implementation have a budget of their own.
#[test]
fn checkpoints_of_other_types_stay_small() {
    const OTHERS: u64 = 10_000_000;
    let total = size(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/any"));
    assert!(
        (1_000_000..OTHERS).contains(&total),
        "fixtures/any takes {total} bytes, over {OTHERS}"
    );
}
