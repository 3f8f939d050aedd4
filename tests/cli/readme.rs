//! The counts in README.md's example output are those of this repository.
//!
//! How many checks pass is known only after a run; that passed and ignored checks are all checks is
//! tested here.

use crate::{drift::assert_current, project::Project};
use regex::{Captures, Regex};
use serde_json::Value;
use std::{collections::BTreeSet, fs};
use testgen_types::{Architecture, DeviceKind, Precision, required_checks};

/// The specs of this repository, as `testgen show specs --format json` prints them.
fn specs() -> Vec<Value> {
    let project = Project::empty();
    let mut command = project.command();
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["show", "specs", "--format", "json"]);
    serde_json::from_str(&project.finish(&mut command).expect_code(0).stdout)
        .expect("the list is JSON")
}

fn words<T: std::str::FromStr>(value: &Value) -> Vec<T> {
    let words = value
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(Value::as_str);
    words
        .map(|word| {
            word.parse()
                .unwrap_or_else(|_| panic!("{word} is not known"))
        })
        .collect()
}

/// The checks of a model on the devices of its spec.
fn checks(spec: &Value, only: Option<DeviceKind>) -> usize {
    let architecture: Architecture = spec["architecture"]
        .as_str()
        .and_then(|word| word.parse().ok())
        .expect("is one");
    let mut devices: Vec<DeviceKind> = words(&spec["devices"]);
    devices.retain(|device| only.is_none_or(|only| only == *device));
    required_checks(
        architecture,
        &devices,
        &words::<Precision>(&spec["precisions"]),
    )
    .len()
}

/// `text` with each of the numbers that `pattern` captures replaced by `number`.
fn with_count(text: &str, pattern: &str, number: usize) -> String {
    let pattern = Regex::new(pattern).expect("the pattern is right");
    assert!(
        pattern.is_match(text),
        "README.md has no line like `{pattern}`"
    );
    pattern
        .replace_all(text, format!("${{before}}{number}${{after}}"))
        .into_owned()
}

#[test]
fn the_counts_of_the_example_are_current() {
    let specs = specs();
    let total: usize = specs.iter().map(|spec| checks(spec, None)).sum();
    let sources = walkdir::WalkDir::new("generated")
        .into_iter()
        .filter_map(Result::ok);
    let sources = sources
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "rs")
        })
        .count();
    let readme = fs::read_to_string("README.md").expect("tests run in the repository");
    let mut text = with_count(
        &readme,
        r"(?<before> generated )\d+(?<after> models, up to date)",
        specs.len(),
    );
    text = with_count(
        &text,
        r"(?<before> verified )\d+(?<after> files, 0 findings)",
        sources,
    );
    text = with_count(
        &text,
        r"(?<before> test(ing|ed) )\d+(?<after> checks)",
        total,
    );
    text = with_count(
        &text,
        r"(?<before>\.\.\. \()\d+(?<after> more architectures\))",
        architectures(&specs).len() - 3,
    );
    text = with_count(
        &text,
        r"(?<before>    of all )\d+(?<after> models every check)",
        specs.len(),
    );
    assert_current("README.md", &with_rows(&text, &specs));
}

fn architectures(specs: &[Value]) -> BTreeSet<&str> {
    specs
        .iter()
        .filter_map(|spec| spec["architecture"].as_str())
        .collect()
}

/// The rows of the example. On the CPU every check passes that is not ignored; of an absent GPU
/// only the checks of its status pass.
fn with_rows(text: &str, specs: &[Value]) -> String {
    let row = Regex::new(r"(?m)^(    (\w+) +(cpu|cuda|rocm) +)(\d+)( +)(\d+)( +0 +)(\d+) ")
        .expect("the pattern is right");
    assert_eq!(
        row.find_iter(text).count(),
        9,
        "three architectures on three devices"
    );
    let current = |found: &Captures<'_>| {
        let of_architecture: Vec<&Value> = specs
            .iter()
            .filter(|spec| spec["architecture"] == found[2])
            .collect();
        let device: DeviceKind = found[3].parse().expect("is a device");
        let all: usize = of_architecture
            .iter()
            .map(|spec| checks(spec, Some(device)))
            .sum();
        let (models, ignored) = (of_architecture.len(), number(&found[8]));
        let passed = match device {
            DeviceKind::Cpu => all - ignored,
            DeviceKind::Cuda | DeviceKind::Rocm => 3 * models,
        };
        format!(
            "    {:<16}  {:<6}  {models:>6}  {passed:>6}  {:>6}  {:>7} ",
            &found[2],
            &found[3],
            0,
            all - passed
        )
    };
    row.replace_all(text, current).into_owned()
}

fn number(text: &str) -> usize {
    text.parse().expect("is a number")
}

#[test]
fn passed_and_ignored_checks_of_the_example_are_all_checks() {
    let readme = fs::read_to_string("README.md").expect("tests run in the repository");
    let result = Regex::new(r"passed: (\d+) checks passed, 0 failed, (\d+) ignored")
        .expect("the pattern is right");
    let found = result
        .captures(&readme)
        .expect("the example ends with its result");
    let total: usize = specs().iter().map(|spec| checks(spec, None)).sum();
    assert_eq!(
        number(&found[1]) + number(&found[2]),
        total,
        "run the example again"
    );
}
