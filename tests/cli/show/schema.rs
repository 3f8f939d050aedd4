//! `testgen show schema`: the JSON Schema accepts the same specs as the reader.

use crate::project::{BERT, OPERATORS, Project};
use serde_json::Value;
use std::collections::BTreeSet;

fn schema() -> Value {
    let outcome = Project::empty().run(&["show", "schema"]).expect_code(0);
    serde_json::from_str(&outcome.stdout).expect("the schema is JSON")
}

#[test]
fn every_property_is_known_to_the_reader_and_no_other() {
    let schema = schema();
    assert_eq!(schema["additionalProperties"], false);
    let mut objects = vec![
        (String::new(), &schema["oneOf"][0]),
        ("operators".to_owned(), &schema["oneOf"][1]),
    ];
    for (name, path) in [
        ("CheckpointSource", "checkpoint"),
        ("Checks", "checks"),
        ("Memory", "memory"),
    ] {
        objects.push((path.to_owned(), &schema["definitions"][name]));
    }
    for (path, object) in objects {
        assert_eq!(object["additionalProperties"], false, "{path}");
        let mut keys: Vec<&str> = object["properties"]
            .as_object()
            .expect("it has properties")
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        assert_eq!(known_keys(&path), keys, "the keys of `{path}`");
    }
}

/// The keys that the reader lists when it meets an unknown one.
fn known_keys(path: &str) -> Vec<String> {
    let project = Project::empty();
    let text = match path {
        "" => format!("{BERT}zzz: 1\n"),
        "operators" => format!("{OPERATORS}zzz: 1\n"),
        "checkpoint" => BERT.replace("fixture: bert", "zzz: 1"),
        _ => format!("{BERT}{path}: {{ zzz: 1 }}\n"),
    };
    let file = if path == "operators" {
        "model_specs/sums.yaml"
    } else {
        "model_specs/bert.yaml"
    };
    project.write(file, text);
    let stderr = project.run(&["generate"]).expect_code(2).stderr;
    let line = stderr
        .lines()
        .find_map(|line| line.split_once("known keys are "))
        .expect("the keys are listed")
        .1;
    let mut keys: Vec<String> = line
        .split(", ")
        .map(|key| key.trim_matches('`').to_owned())
        .collect();
    keys.sort();
    keys
}

#[test]
fn required_keys_are_those_of_the_reader() {
    let project = Project::empty();
    let schema = schema();
    for (text, subject) in [("{}", 0), ("architecture: operators\n", 1)] {
        project.write("model_specs/bert.yaml", text);
        let stderr = project.run(&["generate"]).expect_code(2).stderr;
        let line = stderr
            .lines()
            .find_map(|line| line.split_once("missing keys "))
            .expect("the keys are listed")
            .1;
        let missing: BTreeSet<&str> = line.split(", ").map(|key| key.trim_matches('`')).collect();
        let lists = [&schema["required"], &schema["oneOf"][subject]["required"]];
        let required = lists
            .into_iter()
            .flat_map(|list| list.as_array().expect("it is a list"));
        let is_given = |key: &&str| text.contains(&format!("{key}:"));
        let required = required
            .filter_map(Value::as_str)
            .filter(|key| !is_given(key))
            .collect();
        assert_eq!(missing, required, "{text}");
        let architectures = &schema["oneOf"][subject]["properties"]["architecture"]["enum"];
        let has_operators = architectures
            .as_array()
            .expect("it is a list")
            .contains(&"operators".into());
        assert_eq!(has_operators, subject == 1, "{architectures}");
    }
}

#[test]
fn the_reference_has_every_key() {
    let reference = Project::empty()
        .run(&["show", "schema", "--format", "markdown"])
        .expect_code(0)
        .stdout;
    for key in [
        "`model_type`",
        "`fixture`",
        "`reason`",
        "`vram_mib`",
        "`rel_l2`",
        "| `encoder_only` |",
        "| `shape_sweep` |",
    ] {
        assert!(reference.contains(key), "{key}");
    }
}

#[test]
fn only_specs_have_a_reference() {
    for subject in ["engine", "report"] {
        let outcome = Project::empty()
            .run(&["show", "schema", subject, "--format", "markdown"])
            .expect_code(2);
        assert!(
            outcome.stderr.contains("only `testgen show schema spec`"),
            "{}",
            outcome.stderr
        );
    }
}
