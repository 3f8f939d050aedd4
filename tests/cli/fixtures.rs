//! The size of the fixtures in a clone, and the types that wide configurations cover.

use serde_json::Value;
use std::{collections::BTreeSet, path::Path};
use testgen::spec::{LoadedSpec, load_all};
use testgen_types::ModelType;

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

/// A golden of a published size is small enough for git only if its results are summaries.
#[test]
fn goldens_of_published_sizes_stay_small() {
    const LARGEST: u64 = 200_000;
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/published");
    let specs = load_all(&specs).expect("the specs are valid");
    assert!(specs.len() >= 8, "{} specs", specs.len());
    for loaded in specs {
        let golden = loaded.path.with_extension("").join("golden.safetensors");
        let length = std::fs::metadata(&golden)
            .unwrap_or_else(|error| panic!("{}: {error}", golden.display()))
            .len();
        assert!(length < LARGEST, "{} has {length} bytes", golden.display());
    }
}

/// Without it no check of the suite would compare summaries.
#[test]
fn a_model_of_the_suite_has_a_golden_with_summaries() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("model_specs/decoder_only");
    let golden = std::fs::read(directory.join("llama_large_golden/golden.safetensors"))
        .expect("it is recorded");
    let (length, rest) = golden.split_first_chunk().expect("it has a header");
    let header = &rest[..u64::from_le_bytes(*length) as usize];
    let header: Value = serde_json::from_slice(header).expect("the header is JSON");
    let summaries = header["__metadata__"]["summaries"].as_str();
    let summaries: Value =
        serde_json::from_str(summaries.expect("it has summaries")).expect("they are JSON");
    for name in [
        "output.logits",
        "tokens.logits",
        "trace.embed",
        "trace.layer.1",
    ] {
        assert!(summaries[name].is_object(), "`{name}` is whole");
    }
}

/// Specs of synthetic checkpoints, whose goldens are beside them.
fn wide_specs() -> Vec<LoadedSpec> {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("model_specs");
    let specs = load_all(&specs).expect("the specs are valid");
    let wide = |loaded: &LoadedSpec| loaded.spec.name.as_str().ends_with("_wide");
    specs.into_iter().filter(wide).collect()
}

#[test]
fn every_native_type_has_a_wide_configuration() {
    // A list of tensors does not contain the passages that it reads.
    const WITHOUT: [&str; 1] = ["rag"];
    let covered: BTreeSet<&str> = wide_specs()
        .iter()
        .filter_map(|loaded| loaded.spec.subject.model())
        .map(|model| model.model_type.as_str())
        .collect();
    let native = ModelType::ALL.iter().filter(|it| it.native().is_some());
    let missing: Vec<&str> = native
        .map(|model_type| model_type.as_str())
        .filter(|name| !covered.contains(name))
        .collect();
    assert_eq!(missing, WITHOUT, "add `WIDE` to the definition of the type");
}

#[test]
fn goldens_of_wide_configurations_stay_small() {
    const ONE: u64 = 200_000;
    const ALL: u64 = 5_500_000;
    let sizes = wide_specs().into_iter().map(|loaded| {
        let golden = loaded.path.with_extension("").join("golden.safetensors");
        (size(&golden), loaded.spec.name.to_string())
    });
    let (total, largest) = sizes.fold((0, (0, String::new())), |(total, largest), one| {
        (total + one.0, largest.max(one))
    });
    assert!(
        largest.0 < ONE && (ONE..ALL).contains(&total),
        "{total} bytes, the largest {largest:?}: shorten the tables of positions and the vocabulary"
    );
}
