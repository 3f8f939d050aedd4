//! Files in this repository that testgen writes are up to date, and every fixture has a spec.

use crate::project::Project;
use std::{collections::BTreeSet, env, fs, path::Path};

fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compares the output of testgen in this repository with a file of it.
#[track_caller]
pub(crate) fn assert_printed(path: &str, arguments: &[&str]) {
    let project = Project::empty();
    let mut command = project.command();
    command.current_dir(repository("")).args(arguments);
    assert_current(path, &project.finish(&mut command).expect_code(0).stdout);
}

/// Compares a file of this repository with its expected text, or writes it when `UPDATE_DOCS` is
/// set.
#[track_caller]
pub(crate) fn assert_current(path: &str, expected: &str) {
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(repository(path), expected).expect("docs/ can be written");
    }
    let found = fs::read_to_string(repository(path)).unwrap_or_default();
    let again = "UPDATE_DOCS=1 cargo test -p testgen --test cli current";
    assert!(
        found == expected,
        "{path} is out of date; write it again with `{again}`"
    );
}

#[test]
fn the_schema_and_the_reference_are_current() {
    assert_printed("docs/spec.schema.json", &["show", "schema"]);
    assert_printed(
        "docs/reference/spec.md",
        &["show", "schema", "spec", "--format", "markdown"],
    );
    assert_printed("docs/engine.schema.json", &["show", "schema", "engine"]);
}

#[test]
fn the_model_types_are_current() {
    assert_printed(
        "docs/reference/models.md",
        &["report", "docs/measurements/models", "--by", "models"],
    );
}

#[test]
fn the_results_of_operators_are_current() {
    assert_printed(
        "docs/measurements/operators.md",
        &["report", "docs/measurements/operators", "--by", "operators"],
    );
}

#[test]
fn the_suite_is_current() {
    let project = Project::empty();
    let mut command = project.command();
    command
        .current_dir(repository(""))
        .args(["generate", "--check"]);
    project.finish(&mut command).expect_code(0);
}

#[test]
fn every_fixture_has_a_spec_with_a_comment() {
    let specs: Vec<_> = walkdir::WalkDir::new(repository("model_specs"))
        .into_iter()
        .filter_map(Result::ok)
        .map(|entry| entry.into_path())
        .collect();
    let mut covered = BTreeSet::new();
    for path in specs
        .iter()
        .filter(|path| path.extension().is_some_and(|kind| kind == "yaml"))
    {
        let text = fs::read_to_string(path).expect("a spec is readable");
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("# yaml-language-server: $schema=../../docs/spec.schema.json"),
            "{}",
            path.display()
        );
        assert!(
            lines.next().is_some_and(|line| line.starts_with("# ")),
            "{} says what it covers",
            path.display()
        );
        covered.extend(
            text.lines()
                .filter_map(|line| line.trim().strip_prefix("fixture: "))
                .map(str::to_owned),
        );
    }
    let fixtures = fs::read_dir(repository("fixtures"))
        .expect("there are fixtures")
        .filter_map(Result::ok);
    let fixtures: BTreeSet<String> = fixtures
        .filter(|entry| entry.path().join("config.json").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        fixtures.difference(&covered).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "fixtures without a spec"
    );
}
