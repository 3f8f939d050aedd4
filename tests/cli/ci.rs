//! The workflow that is written by hand: it runs `.ci/run`, with the actions that the generated workflow pins.

use std::{collections::BTreeSet, fs};

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The actions of a workflow, with their commits and versions.
fn actions(workflow: &str) -> BTreeSet<&str> {
    workflow.lines().filter_map(|line| line.trim_start().strip_prefix("- uses: ")).collect()
}

#[test]
fn github_runs_what_ci_run_runs() {
    let (ours, generated) = (read(".github/workflows/ci.yml"), read(".github/workflows/testgen.yml"));
    assert!(ours.contains("\n    - run: bash .ci/run\n"), "{ours}");
    assert!(ours.contains("pull_request: {}\n  push:\n"), "{ours}");
    assert!(!actions(&ours).is_empty() && actions(&ours).is_subset(&actions(&generated)), "{:?}", actions(&ours));
}

#[test]
fn every_crate_is_packaged_or_not_published() {
    let script = read(".ci/run");
    let package = script.lines().find(|line| line.starts_with("step cargo package ")).expect("the step is there");
    let manifests = walkdir::WalkDir::new(".")
        .into_iter()
        .filter_entry(|entry| !["target", ".git", "tests"].iter().any(|name| entry.file_name().to_str() == Some(name)));
    let manifests = manifests.filter_map(Result::ok).filter(|entry| entry.file_name().to_str() == Some("Cargo.toml"));
    let mut packaged = 0;
    for manifest in manifests {
        let table: toml::Table = read(&manifest.path().display().to_string()).parse().expect("is TOML");
        let crate_table = table["package"].as_table().expect("every manifest has a package");
        let name = crate_table["name"].as_str().expect("is text");
        let is_published = crate_table.get("publish").and_then(toml::Value::as_bool) != Some(false);
        let is_excluded = package.contains(&format!("--exclude {name} "));
        assert_ne!(is_published, is_excluded, "{name}");
        packaged += usize::from(is_published);
    }
    assert!(packaged >= 12, "{packaged}");
}
