//! Everything that is derived from the table of model types in `testgen-types`: the recorder's copy
//! of it, `python/reference/registry.json`, one definition of fixtures for each type, and no other
//! list. The same for operators: the names that the engine `torch` has functions for.

use crate::drift::assert_current;
use serde_json::json;
use std::{collections::BTreeSet, fs, path::Path, process::Command};
use testgen_types::{Architecture, ModelType, Operator, ScoreFunction};

/// One line for each model type, in the order of both tables.
fn registry() -> String {
    let lines: Vec<String> = ModelType::ALL
        .iter()
        .map(|kind| format!("  \"{kind}\": {}", line(*kind)))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn line(model_type: ModelType) -> serde_json::Value {
    // What only a native implementation needs is empty for other types.
    let entry = model_type.native().copied().unwrap_or_default();
    json!({
        "any_image_size": entry.any_image_size,
        "architecture": model_type.architecture().as_str(),
        "class": entry.class,
        "classes": model_type.classes(),
        "definition": entry.definition,
        "forced_tokenizer": entry.forced_tokenizer,
        "processor": entry.processor,
        "recorder": model_type.recorder(),
        "scores": match entry.scores {
            ScoreFunction::Softmax => "softmax",
            ScoreFunction::Sigmoid => "sigmoid",
        },
        "tokenizer": entry.tokenizer,
    })
}

#[test]
fn the_recorders_registry_is_current() {
    assert_current("python/reference/registry.json", &registry());
}

#[test]
fn the_operators_of_the_engine_are_current() {
    let names: Vec<String> = Operator::ALL
        .iter()
        .map(|operator| format!("  \"{operator}\""))
        .collect();
    assert_current(
        "python/engine/operators.json",
        &format!("[\n{}\n]\n", names.join(",\n")),
    );
}

#[test]
fn every_native_type_has_one_definition_of_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/fixtures/definitions");
    let files = walkdir::WalkDir::new(&folder)
        .min_depth(2)
        .max_depth(2)
        .into_iter();
    let found: BTreeSet<String> = files
        .map(|entry| entry.expect("definitions can be read").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| {
            path.strip_prefix(&folder)
                .expect("a file below the folder")
                .display()
                .to_string()
        })
        .collect();
    let expected: BTreeSet<String> = native().map(definition).collect();
    assert_eq!(found, expected);
}

/// The types with a native implementation.
fn native() -> impl Iterator<Item = ModelType> {
    ModelType::ALL
        .iter()
        .copied()
        .filter(|kind| kind.native().is_some())
}

/// The file of a type, named as a Python module can be.
fn definition(model_type: ModelType) -> String {
    format!(
        "{}/{}.py",
        model_type.architecture(),
        model_type.as_str().to_lowercase().replace('-', "_")
    )
}

/// Sources that may name types beside the registry: model code, which is by type, and definitions
/// of fixtures.
const BY_TYPE: [&str; 2] = ["crates/models/src", "python/fixtures/definitions"];

/// Rules of transformers for single types, which the table cannot express.
const EXCEPTIONS: [&str; 2] = ["python/fixtures/defaults.py", "python/fixtures/weights.py"];

/// A type is found in the registry, in its model code and in its fixture. A file that names it
/// elsewhere is a second list.
#[test]
fn no_second_list_of_types() {
    let mut found = Vec::new();
    for path in product_sources() {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path))
            .expect("a source is text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let names: Vec<&str> = type_names()
            .filter(|name| code.contains(&format!("\"{name}\"")))
            .collect();
        let allowed = if BY_TYPE.iter().any(|folder| path.starts_with(folder)) {
            2
        } else {
            0
        };
        if names.len() > allowed {
            found.push(format!("{path}: {}", names.join(", ")));
        }
    }
    assert!(
        found.is_empty(),
        "read the registry instead:\n{}",
        found.join("\n")
    );
}

/// The names that are neither that of an architecture nor, as for models of diffusers, that of a
/// class: tasks are by class.
fn type_names() -> impl Iterator<Item = &'static str> {
    let is_architecture = |name: &str| {
        Architecture::ALL
            .iter()
            .any(|architecture| architecture.as_str() == name)
    };
    let own = native().filter(|kind| !kind.classes().iter().any(|class| class == kind.as_str()));
    own.map(ModelType::as_str)
        .filter(move |name| !is_architecture(name))
}

/// The sources of the product, without tests, benchmarks and generated files, relative to the
/// repository.
fn product_sources() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("git is installed");
    let listed = String::from_utf8(listed.stdout).expect("paths are text");
    let is_product = |path: &&str| {
        let is_source = [".rs", ".py", ".tera", ".sh"]
            .iter()
            .any(|end| path.ends_with(end));
        let is_test = [
            "tests/",
            "/tests/",
            "benches/",
            "generated/",
            "verify/fixtures/",
            "python/faults/",
        ];
        let is_test = is_test
            .iter()
            .any(|part| path.starts_with(part) || path.contains(part))
            || path.ends_with("tests.rs");
        is_source
            && !is_test
            && !EXCEPTIONS.contains(path)
            && ![
                "crates/types/src/registry.rs",
                "crates/types/src/transformers_types.rs",
                "crates/types/src/type_versions.rs",
            ]
            .contains(path)
    };
    listed
        .lines()
        .filter(is_product)
        .map(str::to_owned)
        .collect()
}
