//! The Cargo.toml of a suite: its build profiles and its package's name.

use crate::project::{BERT, Project};
use std::{collections::BTreeSet, fs};

#[test]
fn a_suite_is_built_with_the_profiles_of_the_workspace() {
    let read = |text: &str| text.parse::<toml::Table>().expect("is TOML");
    let workspace = read(&fs::read_to_string("Cargo.toml").expect("tests run in the repository"));
    let lock = read(&fs::read_to_string("Cargo.lock").expect("tests run in the repository"));
    let linked = dependencies(&lock, "testgen-runtime");
    let project = Project::with_bert();
    project.run(&["generate"]).expect_code(0);
    let suite = read(&project.read("generated/Cargo.toml"));
    for profile in ["dev", "release"] {
        let mut expected = workspace["profile"][profile].clone();
        if let Some(packages) = expected
            .get_mut("package")
            .and_then(toml::Value::as_table_mut)
        {
            packages.retain(|package, _| package == "*" || linked.contains(package));
        }
        assert_eq!(suite["profile"][profile], expected, "{profile}");
    }
    assert_eq!(
        suite["profile"]["dev"]["package"]["testgen-nn"]["opt-level"].as_integer(),
        Some(2)
    );
}

/// A package of a lock file with everything that it depends on.
fn dependencies<'l>(lock: &'l toml::Table, package: &'l str) -> BTreeSet<&'l str> {
    let packages = lock["package"].as_array().expect("is a list");
    let mut found = BTreeSet::from([package]);
    let mut next = vec![package];
    while let Some(name) = next.pop() {
        for entry in packages
            .iter()
            .filter(|entry| entry["name"].as_str() == Some(name))
        {
            let names = entry
                .get("dependencies")
                .and_then(toml::Value::as_array)
                .into_iter()
                .flatten();
            // An entry is `name`, or `name version` where there are several versions.
            let names = names.filter_map(|name| name.as_str()?.split(' ').next());
            // Only tests depend on the simulator; a lock file does not distinguish their
            // dependencies.
            let names = names.filter(|name| !name.starts_with("hip-sim"));
            next.extend(names.filter(|name| found.insert(name)));
        }
    }
    found
}

#[test]
fn a_checkout_under_another_name_is_up_to_date() {
    let project = Project::empty();
    project.write("first/model_specs/encoder_only/bert.yaml", BERT);
    let run = |directory: &str, arguments: &[&str]| {
        let mut command = project.command();
        project
            .finish(command.current_dir(project.path(directory)).args(arguments))
            .expect_code(0)
    };
    run("first", &["generate"]);
    assert!(
        project
            .read("first/generated/Cargo.toml")
            .contains("name = \"first-generated\"")
    );
    fs::rename(project.path("first"), project.path("second")).expect("it can be renamed");
    run("second", &["generate", "--check"]);
    run("second", &["verify"]);
}
