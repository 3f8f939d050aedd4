//! Synthetic checkpoints against the same weights computed with numpy, and the directories in the
//! cache.

mod written;

use crate::{
    SyntheticError,
    cache::made_in,
    computed_weights::ComputedWeights,
    recipe::{FILE, Recipe},
    weights_file,
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

fn recipes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/recipes")
}

/// A directory with the recipe of this name, or with this text.
fn recorded(text: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(FILE), text).expect("is written");
    directory
}

fn of_file(name: &str) -> TempDir {
    recorded(&fs::read_to_string(recipes().join(format!("{name}.json"))).expect("a recipe"))
}

fn made(cache: &Path, directory: &Path) -> Result<PathBuf, SyntheticError> {
    let weights = ComputedWeights::find(directory)?.expect("there is a recipe");
    made_in(cache, directory, &weights)
}

/// The files of a directory that are not hidden.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("is UTF-8")).collect();
    names.sort();
    names
}

/// `digests.json` has those of the files that `python/tests/record/synthetic_weights.py` writes.
#[test]
fn the_weights_are_those_of_numpy() {
    let text = fs::read_to_string(recipes().join("digests.json")).expect("digests");
    let expected: BTreeMap<String, String> = serde_json::from_str(&text).expect("digests");
    let digest = |name: &String| {
        let directory = of_file(name);
        let path = directory.path().join("weights");
        let recipe = Recipe::read(directory.path()).expect("a recipe");
        weights_file::write(&recipe, &path).expect("is written");
        let digest = Sha256::digest(fs::read(path).expect("is there"));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let found: BTreeMap<String, String> = expected
        .keys()
        .map(|name| (name.clone(), digest(name)))
        .collect();
    assert_eq!(found, expected);
    assert!(found.len() >= 5, "{} recipes", found.len());
}

#[test]
fn a_checkpoint_has_the_recorded_files_and_weights() {
    let (cache, directory) = (tempfile::tempdir().expect("a directory"), of_file("f32"));
    for name in ["config.json", "golden.safetensors", ".testgen-1.0.tmp"] {
        fs::write(directory.path().join(name), name).expect("is written");
    }
    let made = made(cache.path(), directory.path()).expect("is made");
    let expected = [
        "config.json",
        "golden.safetensors",
        "model.safetensors",
        FILE,
    ];
    assert_eq!(names(&made), expected);
    assert_eq!(
        fs::read_to_string(made.join("config.json")).expect("is there"),
        "config.json"
    );
}

#[test]
fn weights_have_the_name_that_the_library_of_the_class_reads() {
    let (cache, directory) = (tempfile::tempdir().expect("a directory"), of_file("f32"));
    let config = directory.path().join("config.json");
    for (content, name) in [
        (r#"{"model_type": "bert"}"#, "model.safetensors"),
        (
            r#"{"_class_name": "AutoencoderKL"}"#,
            "diffusion_pytorch_model.safetensors",
        ),
    ] {
        fs::write(&config, content).expect("is written");
        let made = made(cache.path(), directory.path()).expect("is made");
        assert!(made.join(name).is_file(), "{:?}", names(&made));
    }
}

#[test]
fn a_new_golden_is_another_directory_with_the_same_weights() {
    use std::os::unix::fs::MetadataExt;
    let (cache, directory) = (tempfile::tempdir().expect("a directory"), of_file("f32"));
    let golden = directory.path().join("golden.safetensors");
    let inode = |made: &Path| {
        fs::metadata(made.join("model.safetensors"))
            .expect("has weights")
            .ino()
    };
    fs::write(&golden, "one").expect("is written");
    let first = made(cache.path(), directory.path()).expect("is made");
    assert_eq!(
        made(cache.path(), directory.path()).expect("is found"),
        first
    );
    fs::write(&golden, "two").expect("is written");
    let second = made(cache.path(), directory.path()).expect("is made");
    assert_ne!(first, second);
    assert_eq!(inode(&first), inode(&second));
    // Both directories and the weights, and nothing temporary.
    assert_eq!(names(cache.path()).len(), 3);
}

#[test]
fn another_seed_is_another_checkpoint() {
    let cache = tempfile::tempdir().expect("a directory");
    let weights = |seed: u64| {
        let text = format!(
            r#"{{"seed": {seed}, "tensors": [{{"name": "a", "dtype": "F32", "shape": [9], "mean": 0, "std": 1}}]}}"#
        );
        let made = made(cache.path(), recorded(&text).path()).expect("is made");
        fs::read(made.join("model.safetensors")).expect("has weights")
    };
    assert_ne!(weights(1), weights(2));
}

#[test]
fn what_is_too_large_is_refused_before_anything_is_written() {
    let cache = tempfile::tempdir().expect("a directory");
    let error = |tensors: &str| {
        let text = format!(r#"{{"seed": 1, "tensors": [{tensors}]}}"#);
        made(cache.path(), recorded(&text).path()).expect_err("is too large")
    };
    let huge = r#"{"name": "a", "dtype": "F32", "shape": [9999999999, 9999999999, 9], "mean": 0, "std": 1}"#;
    assert!(matches!(error(huge), SyntheticError::TooLarge { .. }));
    let many =
        r#"{"name": "*", "count": 9999999999, "dtype": "F32", "shape": [1], "mean": 0, "std": 1}"#;
    assert!(matches!(error(many), SyntheticError::TooMany { .. }));
    assert!(matches!(error("1"), SyntheticError::NotARecipe { .. }));
    assert_eq!(names(cache.path()), Vec::<String>::new());
}

#[test]
fn a_failed_write_names_the_size_and_what_to_do() {
    let directory = of_file("pieces");
    let recipe = Recipe::read(directory.path()).expect("a recipe");
    let error = weights_file::write(&recipe, Path::new("/dev/full")).expect_err("is full");
    let text = error.to_string();
    assert!(
        text.contains("cannot write 4 MB of weights to `/dev/full`: No space left"),
        "{text}"
    );
    assert!(text.contains("set TESTGEN_CACHE"), "{text}");
}
