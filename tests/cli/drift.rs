//! Files in this repository that are written by testgen are current, and every fixture has a spec.

use crate::project::Project;
use std::{collections::BTreeSet, fs, path::Path};

fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[track_caller]
fn assert_current(path: &str, arguments: &[&str]) {
    let wanted = Project::empty().run(arguments).expect_code(0).stdout;
    let found = fs::read_to_string(repository(path)).unwrap_or_default();
    assert!(found == wanted, "{path} is out of date; run `testgen {} > {path}`", arguments.join(" "));
}

#[test]
fn the_schema_and_the_reference_are_current() {
    assert_current("docs/spec.schema.json", &["schema"]);
    assert_current("docs/spec.md", &["schema", "--markdown"]);
}

#[test]
fn the_model_types_are_current() {
    let project = Project::empty();
    let mut command = project.command();
    command.current_dir(repository("")).args(["models", "docs/hardware", "--markdown"]);
    let wanted = project.finish(&mut command).expect_code(0).stdout;
    let found = fs::read_to_string(repository("docs/models.md")).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/models.md is out of date; run `testgen models docs/hardware --markdown > docs/models.md`"
    );
}

#[test]
fn the_suite_is_current() {
    let project = Project::empty();
    let mut command = project.command();
    command.current_dir(repository("")).args(["generate", "--check"]);
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
    for path in specs.iter().filter(|path| path.extension().is_some_and(|kind| kind == "yaml")) {
        let text = fs::read_to_string(path).expect("a spec is readable");
        let mut lines = text.lines();
        assert_eq!(
            lines.next(),
            Some("# yaml-language-server: $schema=../../docs/spec.schema.json"),
            "{}",
            path.display()
        );
        assert!(lines.next().is_some_and(|line| line.starts_with("# ")), "{} says what it covers", path.display());
        covered.extend(text.lines().filter_map(|line| line.trim().strip_prefix("fixture: ")).map(str::to_owned));
    }
    let fixtures = fs::read_dir(repository("fixtures")).expect("there are fixtures").filter_map(Result::ok);
    let fixtures: BTreeSet<String> = fixtures
        .filter(|entry| entry.path().join("config.json").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(fixtures.difference(&covered).collect::<Vec<_>>(), Vec::<&String>::new(), "fixtures without a spec");
}
