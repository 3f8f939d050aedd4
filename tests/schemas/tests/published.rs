//! The output of `testgen matrix` and `testgen report` is valid in the published schemas. The files
//! are the snapshots of `cargo test -p testgen`, so that this needs no build of testgen, no network
//! and no Python.

use jsonschema::Validator;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn validator(path: &Path) -> Validator {
    let schema: Value = serde_json::from_str(&read(path)).expect("a schema is JSON");
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn vendored(name: &str) -> Validator {
    validator(&Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor").join(name))
}

/// The snapshots with this extension whose names contain `part`.
fn snapshots(part: &str, extension: &str) -> Vec<PathBuf> {
    let is_selected = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains(part) && name.ends_with(extension)
    };
    let files = WalkDir::new(repository().join("tests/cli/snapshots")).sort_by_file_name().into_iter();
    files.filter_map(Result::ok).map(walkdir::DirEntry::into_path).filter(is_selected).collect()
}

/// Every document of every file is valid, and there are at least `least` of them.
fn assert_valid(validator: &Validator, files: &[PathBuf], least: usize) {
    let mut documents = 0;
    for file in files {
        let values: Vec<Value> =
            serde_yaml::from_multiple(&read(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for value in values {
            documents += 1;
            let errors: Vec<String> =
                validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", file.display());
        }
    }
    assert!(documents >= least, "{documents} documents, expected at least {least}");
}

#[test]
fn github_workflows() {
    let mut files = snapshots("github_workflows", ".yml");
    files.extend(["testgen", "ci"].map(|name| repository().join(format!(".github/workflows/{name}.yml"))));
    assert_valid(&vendored("github-workflow.json"), &files, 7);
}

#[test]
fn gitlab_pipelines() {
    assert_valid(&vendored("gitlab-ci.json"), &snapshots("gitlab", ".yml"), 4);
}

#[test]
fn kubernetes_jobs() {
    assert_valid(&vendored("kubernetes-job.json"), &snapshots("kubernetes", ".yml"), 7);
}

#[test]
fn merged_reports() {
    let files = snapshots("seeded", ".json");
    assert_valid(&validator(&repository().join("docs/report.schema.json")), &files, 1);
}

/// The schemas reject invalid files: an empty schema would accept everything.
#[test]
fn wrong_files_are_refused() {
    let refused = |validator: &Validator, text: &str| {
        let value: Value = serde_yaml::from_str(text).expect("is YAML");
        assert!(!validator.is_valid(&value), "{text}");
    };
    refused(&vendored("github-workflow.json"), "on: push\njobs: { a: { runs-on: x, steps: [{ run: 1 }] } }");
    refused(&vendored("github-workflow.json"), "on: push\njobs: { a: { runs-on: x, step: [] } }");
    refused(&vendored("gitlab-ci.json"), "a: { script: [x], timeout: 5 }");
    refused(&vendored("kubernetes-job.json"), "apiVersion: batch/v1\nkind: Job\nspec: { completion: 1 }");
    refused(&validator(&repository().join("docs/report.schema.json")), "{ version: 1 }");
}
