//! What follows from the table of model types in `testgen-types`: the recorder's copy of it, `src/record/registry.json`, and one
//! definition of fixtures for each type.

use crate::drift::assert_current;
use serde_json::json;
use std::{collections::BTreeSet, path::Path};
use testgen_types::{ModelType, ScoreFunction};

/// One line for each model type, in the order of the registry.
fn registry() -> String {
    let lines: Vec<String> = ModelType::ALL.iter().map(|kind| format!("  \"{kind}\": {}", line(*kind))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn line(model_type: ModelType) -> serde_json::Value {
    let entry = model_type.entry();
    json!({
        "any_image_size": entry.any_image_size,
        "architecture": model_type.architecture().as_str(),
        "class": entry.class,
        "classes": model_type.classes(),
        "forced_tokenizer": entry.forced_tokenizer,
        "processor": entry.processor,
        "recorder": entry.recorder,
        "scores": match entry.scores {
            ScoreFunction::Softmax => "softmax",
            ScoreFunction::Sigmoid => "sigmoid",
        },
        "tokenizer": entry.tokenizer,
    })
}

#[test]
fn the_recorders_registry_is_current() {
    assert_current("src/record/registry.json", &registry());
}

#[test]
fn every_type_has_one_definition_of_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/definitions");
    let files = walkdir::WalkDir::new(&folder).min_depth(2).max_depth(2).into_iter();
    let found: BTreeSet<String> = files
        .map(|entry| entry.expect("definitions can be read").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| path.strip_prefix(&folder).expect("a file below the folder").display().to_string())
        .collect();
    let expected: BTreeSet<String> = ModelType::ALL.iter().map(|kind| definition(*kind)).collect();
    assert_eq!(found, expected);
}

/// The file of a type, named as a Python module can be.
fn definition(model_type: ModelType) -> String {
    format!("{}/{}.py", model_type.architecture(), model_type.as_str().to_lowercase().replace('-', "_"))
}
