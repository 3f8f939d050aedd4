//! The workflow that is written by hand: it runs `.ci/run`, with the actions that the generated
//! workflow pins. What every workflow may do.

use crate::{project::Project, runners::THREE};
use regex::Regex;
use std::{collections::BTreeSet, fs};

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The actions of a workflow, with their commits and versions.
fn actions(workflow: &str) -> BTreeSet<&str> {
    workflow
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("- uses: "))
        .collect()
}

#[test]
fn github_runs_what_ci_run_runs() {
    let (ours, generated) = (
        read(".github/workflows/ci.yml"),
        read(".github/workflows/testgen.yml"),
    );
    assert!(ours.contains("\n    - run: bash .ci/run\n"), "{ours}");
    assert!(ours.contains("pull_request: {}\n  push:\n"), "{ours}");
    assert!(
        !actions(&ours).is_empty() && actions(&ours).is_subset(&actions(&generated)),
        "{:?}",
        actions(&ours)
    );
}

#[test]
fn every_crate_is_packaged_or_not_published() {
    let script = read(".ci/stages");
    let package = script
        .lines()
        .find(|line| line.trim_start().starts_with("step cargo package "))
        .expect("the step is there");
    let manifests = walkdir::WalkDir::new(".")
        .into_iter()
        .filter_entry(|entry| {
            !["target", ".git", "tests"]
                .iter()
                .any(|name| entry.file_name().to_str() == Some(name))
        });
    let manifests = manifests
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str() == Some("Cargo.toml"));
    let mut packaged = 0;
    for manifest in manifests {
        let table: toml::Table = read(&manifest.path().display().to_string())
            .parse()
            .expect("is TOML");
        let crate_table = table["package"]
            .as_table()
            .expect("every manifest has a package");
        let name = crate_table["name"].as_str().expect("is text");
        let is_published = crate_table.get("publish").and_then(toml::Value::as_bool) != Some(false);
        let is_excluded = package.contains(&format!("--exclude {name} "));
        assert_ne!(is_published, is_excluded, "{name}");
        packaged += usize::from(is_published);
    }
    assert!(packaged >= 12, "{packaged}");
}

/// Workflows as they are in this repository, and as projects get them with every kind of runner.
fn workflows() -> Vec<(String, String)> {
    let files = fs::read_dir(".github/workflows")
        .expect("there are workflows")
        .filter_map(Result::ok);
    let own = files.map(|file| file.path().display().to_string());
    let mut workflows: Vec<(String, String)> =
        own.map(|path| (path.clone(), read(&path))).collect();
    let project = Project::with_bert();
    project.write("testgen.toml", THREE);
    project.run(&["matrix", "--write"]).expect_code(0);
    for name in project.files(".github/workflows") {
        workflows.push((
            format!("generated {name}"),
            project.read(format!(".github/workflows/{name}")),
        ));
    }
    assert!(workflows.len() >= 4, "{workflows:?}");
    workflows
}

#[test]
fn actions_are_pinned_by_commit() {
    let pinned =
        Regex::new(r"^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").expect("is a pattern");
    for (path, text) in workflows() {
        assert!(!actions(&text).is_empty(), "{path}");
        // A workflow of the same commit needs no pin.
        let used = text.matches("uses:").count()
            - text.matches("\n    uses: ./.github/workflows/").count();
        assert_eq!(
            used,
            text.matches("\n    - uses: ").count(),
            "{path}: every `uses` is recognised"
        );
        for action in actions(&text) {
            assert!(
                pinned.is_match(action),
                "{path}: `{action}` is not pinned by commit"
            );
        }
    }
}

/// Only the job that uploads findings writes anything, and no step has a token that can.
#[test]
fn workflows_have_least_permissions() {
    for (path, text) in workflows() {
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{path} restricts no token"
        );
        let written: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.ends_with(": write"))
            .collect();
        let findings = text.matches("/upload-sarif@").count();
        assert_eq!(written, vec!["security-events: write"; findings], "{path}");
        let (checkouts, without) = (
            text.matches("actions/checkout@").count(),
            "persist-credentials: false",
        );
        assert_eq!(
            text.matches(without).count(),
            checkouts,
            "{path}: a checkout keeps its token"
        );
        for forbidden in [
            "pull_request_target",
            "write-all",
            "secrets.",
            "github.event.pull_request.title",
            "github.head_ref",
        ] {
            assert!(!text.contains(forbidden), "{path} contains `{forbidden}`");
        }
    }
}
