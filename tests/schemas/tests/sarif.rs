//! The output of `testgen verify --format sarif` is valid in the published schema of SARIF 2.1.0.
//! The files are the snapshots of `cargo test -p testgen`.

use jsonschema::Validator;
use serde_json::Value;
use std::{fs, path::Path};

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("is JSON")
}

fn schema() -> Validator {
    let mut schema = read("vendor/sarif-2.1.0.json");
    // Published with a stray `]` in two places, which strict readers of patterns refuse; we write
    // no `language`.
    for owner in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{owner}/properties/language"));
        let language = language.and_then(Value::as_object_mut).expect("is there");
        language.remove("pattern").expect("has a pattern");
    }
    jsonschema::validator_for(&schema).expect("a schema")
}

fn snapshot(name: &str) -> Value {
    read(&format!("../cli/verify/snapshots/cli__verify__formats__{name}_sarif.snap.json"))
}

#[test]
fn results_are_valid() {
    let schema = schema();
    for (name, results) in [("clean", 0), ("damaged", 3)] {
        let value = snapshot(name);
        let errors: Vec<String> =
            schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
        assert_eq!(value["runs"][0]["results"].as_array().map(Vec::len), Some(results), "{name}");
    }
}

/// Every result refers to a rule of the run by name and by index.
#[test]
fn results_name_rules_that_are_there() {
    let value = snapshot("damaged");
    let run = &value["runs"][0];
    for result in run["results"].as_array().expect("is a list") {
        let index = result["ruleIndex"].as_u64().expect("is a number") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
}

/// The schema rejects invalid files: an empty schema would accept everything.
#[test]
fn wrong_results_are_refused() {
    let schema = schema();
    let good = snapshot("damaged");
    let wrong: [fn(&mut Value); 4] = [
        |value| value["version"] = "2.0.0".into(),
        |value| value["runs"][0]["results"][0]["level"] = "fatal".into(),
        |value| value["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into(),
        |value| value["runs"][0]["results"][0]["place"] = 1.into(),
    ];
    for change in wrong {
        let mut value = good.clone();
        change(&mut value);
        assert!(!schema.is_valid(&value));
    }
}
